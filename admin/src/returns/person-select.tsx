import { Alert, List, Select, type SelectProps } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, errorMessage } from '../api.ts';
import { useSession } from '../session/session.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { notify, notifyDone } from '../ui/notify.ts';
import { type AnyReturn, countOf, type Kind } from './kinds.ts';
import { runForEach } from './moves/run-for-each.ts';
import { peopleQuery, refetchReturns } from './queries.ts';

/** Mantine has no empty value to choose. */
const UNASSIGNED = 'none';

interface Props extends Omit<SelectProps, 'data' | 'value' | 'onChange'> {
  /** The id of a person, `none`, or null where nothing is chosen. */
  value: string | null;
  onChange(value: string): void;
}

/** Chooses a person of the team, oneself first, or none. Part of the name or the e-mail finds them. */
export const PersonSelect = ({ value, onChange, ...rest }: Props) => {
  const { data } = useQuery(peopleQuery);
  const { user } = useSession();
  const people = data?.items ?? [];
  const isMe = ({ id }: { id: string }) => id === user.id;
  const options = [
    ...people.filter(isMe).map(({ id, name }) => ({ value: id, label: `${name} (me)` })),
    { value: UNASSIGNED, label: 'Unassigned' },
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
      nothingFoundMessage="No one by that name"
      maxDropdownHeight={260}
      data={options}
      value={value}
      onChange={(chosen) => chosen !== null && onChange(chosen)}
      {...rest}
    />
  );
};

const assign = (kind: Kind, id: string, person: string): Promise<AnyReturn> =>
  api.post<AnyReturn>(`${kind.path}/${id}/assign`, { assigneeId: person === UNASSIGNED ? null : person });

interface AssigneePickerProps {
  kind: Kind;
  item: Pick<AnyReturn, 'id' | 'rmaNumber' | 'assignee'>;
}

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
      value={assigning.isPending ? assigning.variables : (item.assignee?.id ?? UNASSIGNED)}
      onChange={(person) => assigning.mutate(person)}
      disabled={assigning.isPending}
    />
  );
};

interface AssignDialogProps {
  kind: Kind;
  items: readonly AnyReturn[];
  onClose(): void;
}

const titleOf = (kind: Kind, items: readonly AnyReturn[]): string =>
  items.length === 1 ? `Assign ${items[0]?.rmaNumber}` : `Assign ${countOf(items.length, kind)}`;

/** Assigns one return or many. Those that could not be assigned stay in the dialog, with the reason. */
export const AssignDialog = ({ kind, items, onClose }: AssignDialogProps) => {
  const queryClient = useQueryClient();
  const [person, setPerson] = useState<string | null>(null);
  const [left, setLeft] = useState(items);
  const assigning = useMutation({
    mutationFn: async (to: string) => {
      const outcomes = await runForEach(left, (item) => assign(kind, item.id, to));
      return outcomes.filter(({ error }) => error !== null);
    },
    onSuccess: (failed) => {
      setLeft(failed.map(({ item }) => item));
      if (failed.length > 0) return;
      notifyDone(`${countOf(items.length, kind)} assigned`);
      onClose();
    },
    onSettled: () => refetchReturns(queryClient, kind),
  });
  const failed = assigning.data ?? [];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (person !== null) assigning.mutate(person);
  };
  return (
    <FormDialog
      title={titleOf(kind, left)}
      action="Assign"
      size="md"
      disabled={person === null}
      busy={assigning.isPending}
      failure={null}
      onSubmit={submit}
      onClose={onClose}
    >
      {failed.length > 0 ? (
        <Alert color="red" role="alert" title={`${countOf(failed.length, kind)} could not be assigned`}>
          <List size="sm">
            {failed.map(({ item, error }) => (
              <List.Item key={item.id}>
                {item.rmaNumber}: {errorMessage(error)}
              </List.Item>
            ))}
          </List>
        </Alert>
      ) : null}
      <PersonSelect
        label="To whom"
        placeholder="Choose a person"
        data-autofocus
        value={person}
        onChange={setPerson}
      />
    </FormDialog>
  );
};
