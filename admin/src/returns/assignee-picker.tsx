import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../api.ts';
import { notify } from '../ui/notify.ts';
import type { AnyReturn, Kind } from './kinds.ts';
import { NOBODY, PersonSelect } from './person-select.tsx';
import { refetchReturns } from './queries.ts';

export const assign = (kind: Kind, id: string, person: string): Promise<AnyReturn> =>
  api.post<AnyReturn>(`${kind.path}/${id}/assign`, { assigneeId: person === NOBODY ? null : person });

interface Props {
  kind: Kind;
  item: Pick<AnyReturn, 'id' | 'rmaNumber' | 'assignee'>;
}

/** Shows who works on a return, and gives it to somebody else as soon as one is chosen. */
export const AssigneePicker = ({ kind, item }: Props) => {
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
