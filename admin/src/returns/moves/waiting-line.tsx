import { Button, Group } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Hourglass } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import { dateFormat } from '../../format.ts';
import { useBlocked } from '../../session/blocked.tsx';
import { texts } from '../../texts.ts';
import { wordFor } from '../../ui/known-word.ts';
import { lazyPart } from '../../ui/lazy.tsx';
import { notifyDone, notifyFailed } from '../../ui/notify.ts';
import type { AnyReturn, Kind } from '../kinds.ts';
import { detailQuery, refetchReturns } from '../queries.ts';
import styles from './return-moves.module.css';

const words = texts.waiting;
const WaitingDialog = lazyPart(async () => (await import('./waiting.tsx')).WaitingDialog);

/** "A part". */
export const whatName = (what: string): string => wordFor(words.names, what);

const DAY = { weekday: 'short', day: 'numeric', month: 'short' } as const;
const day = dateFormat(DAY);
const dayOfAnotherYear = dateFormat({ ...DAY, year: 'numeric' });
export const untilText = (until: string | null): string | null => {
  if (until === null) return null;
  const date = new Date(until);
  return (date.getFullYear() === new Date().getFullYear() ? day : dayOfAnotherYear).format(date);
};

const clearWaiting = (kind: Kind, { id, updatedAt }: AnyReturn): Promise<AnyReturn> =>
  api.delete<AnyReturn>(`${kind.path}/${id}/waiting-for`, { seen: updatedAt });

/** "Waiting for a part until Fri, 20 Nov · ordered at Makita", and the way out of it. */
export const WaitingLine = ({ kind, item }: { kind: Kind; item: AnyReturn }) => {
  const queryClient = useQueryClient();
  const blocked = useBlocked();
  const [isChanging, setChanging] = useState(false);
  const clearing = useMutation({
    mutationFn: () => clearWaiting(kind, item),
    onSuccess: (result) => {
      queryClient.setQueryData(detailQuery(kind, item.id).queryKey, result);
      notifyDone(words.cleared(item.rmaNumber));
    },
    onError: (error) => notifyFailed(words.failed(item.rmaNumber), error),
    onSettled: () => refetchReturns(queryClient, kind),
  });
  if (item.waitingFor === null) return null;
  const { what, until, note } = item.waitingFor;
  return (
    <div className={styles['waiting']}>
      <span>
        <Hourglass size={14} />
        {words.line(whatName(what), untilText(until))}
        {note ? <bdi> · {note}</bdi> : null}
      </span>
      {blocked === null ? (
        <Group gap={4} className="not-printed">
          <Button size="compact-xs" variant="subtle" onClick={() => setChanging(true)}>
            {words.change}
          </Button>
          <Button
            size="compact-xs"
            variant="subtle"
            loading={clearing.isPending}
            onClick={() => clearing.mutate()}
          >
            {words.clear}
          </Button>
        </Group>
      ) : null}
      {isChanging ? <WaitingDialog kind={kind} items={[item]} onClose={() => setChanging(false)} /> : null}
    </div>
  );
};
