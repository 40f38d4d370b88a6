import { Alert, Button, Group, List, Modal, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { errorMessage } from '../../api.ts';
import { notifyDone } from '../../ui/notify.ts';
import { type AnyReturn, countOf, type Kind } from '../kinds.ts';
import { runForEach } from '../moves/run-for-each.ts';
import { assign, PersonSelect } from '../person-select.tsx';
import { refetchReturns } from '../queries.ts';

const CONCURRENCY = 4;

interface Props {
  kind: Kind;
  items: readonly AnyReturn[];
  onClose(isDone: boolean): void;
}

const titleOf = (kind: Kind, items: readonly AnyReturn[]): string =>
  items.length === 1 ? `Assign ${items[0]?.rmaNumber}` : `Assign ${countOf(items.length, kind)}`;

/** Gives one return or many to somebody of the team. Those that could not be given stay in the dialog, with the reason. */
export const AssignDialog = ({ kind, items, onClose }: Props) => {
  const queryClient = useQueryClient();
  const [person, setPerson] = useState<string | null>(null);
  const [left, setLeft] = useState(items);
  const assigning = useMutation({
    mutationFn: async (to: string) => {
      const { signal } = new AbortController();
      const outcomes = await runForEach(left, (item) => assign(kind, item.id, to), {
        concurrency: CONCURRENCY,
        signal,
        onProgress: () => {},
      });
      return outcomes.filter(({ error }) => error !== null);
    },
    onSuccess: (failed) => {
      setLeft(failed.map(({ item }) => item));
      if (failed.length > 0) return;
      notifyDone(`${countOf(items.length, kind)} assigned`);
      onClose(true);
    },
    onSettled: () => refetchReturns(queryClient, kind),
  });
  const failed = assigning.data ?? [];
  return (
    <Modal
      opened
      onClose={() => onClose(false)}
      title={titleOf(kind, left)}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
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
          placeholder="Choose somebody"
          data-autofocus
          value={person}
          onChange={setPerson}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={() => onClose(false)}>
            Cancel
          </Button>
          <Button
            disabled={person === null}
            loading={assigning.isPending}
            onClick={() => person !== null && assigning.mutate(person)}
          >
            Assign
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
};
