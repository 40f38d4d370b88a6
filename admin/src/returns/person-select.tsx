import { Select, type SelectProps } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../api.ts';
import { useSession } from '../session/session.ts';
import { notify } from '../ui/notify.ts';
import type { AnyReturn, Kind } from './kinds.ts';
import { peopleQuery, refetchReturns } from './queries.ts';

/** Mantine has no empty value to choose. */
const NOBODY = 'none';

interface Props extends Omit<SelectProps, 'data' | 'value' | 'onChange'> {
  /** The id of a person, `none`, or null where nothing is chosen. */
  value: string | null;
  onChange(value: string): void;
}

/** Chooses somebody of the team, oneself first, or nobody. Part of the name or the e-mail finds them. */
export const PersonSelect = ({ value, onChange, ...rest }: Props) => {
  const { data } = useQuery(peopleQuery);
  const { user } = useSession();
  const people = data?.items ?? [];
  const isMe = ({ id }: { id: string }) => id === user.id;
  const options = [
    ...people.filter(isMe).map(({ id, name }) => ({ value: id, label: `${name} (me)` })),
    { value: NOBODY, label: 'Unassigned' },
    ...people
      .filter((person) => !isMe(person))
      .map(({ id, name, email }) => ({
        value: id,
        // Two people may have one name.
        label: people.filter((other) => other.name === name).length > 1 ? `${name} (${email})` : name,
      })),
  ];
  return (
    <Select
      searchable
      allowDeselect={false}
      nothingFoundMessage="Nobody by that name"
      maxDropdownHeight={260}
      data={options}
      value={value}
      onChange={(chosen) => chosen !== null && onChange(chosen)}
      {...rest}
    />
  );
};

export const assign = (kind: Kind, id: string, person: string): Promise<AnyReturn> =>
  api.post<AnyReturn>(`${kind.path}/${id}/assign`, { assigneeId: person === NOBODY ? null : person });

interface AssigneePickerProps {
  kind: Kind;
  item: Pick<AnyReturn, 'id' | 'rmaNumber' | 'assignee'>;
}

/** Shows who works on a return, and gives it to somebody else as soon as one is chosen. */
export const AssigneePicker = ({ kind, item }: AssigneePickerProps) => {
  const queryClient = useQueryClient();
  const assigning = useMutation({
    mutationFn: (person: string) => assign(kind, item.id, person),
    onError: ({ message }) =>
      void notify({ color: 'red', title: `${item.rmaNumber} is not assigned`, message }),
    onSettled: () => refetchReturns(queryClient, kind),
  });
  return (
    <PersonSelect
      aria-label="Assigned to"
      size="xs"
      value={assigning.isPending ? assigning.variables : (item.assignee?.id ?? NOBODY)}
      onChange={(person) => assigning.mutate(person)}
      disabled={assigning.isPending}
    />
  );
};
