import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { TimelineEntry } from '../../../../contract/common.ts';
import { ApiError, api } from '../../api.ts';
import { notifyDone } from '../../ui/notify.ts';
import { moveDraftName, useDialogDraft } from '../dialog-draft.ts';
import type { AnyReturn, Kind } from '../kinds.ts';
import { detailQuery, refetchReturns, timelineQuery } from '../queries.ts';
import type { MoveBody, StaffMove } from './moves.ts';
import { movesSince } from './what-happened.ts';

/** What others did since the dialog opened. */
export interface Conflict {
  entries: TimelineEntry[];
  status: string;
  updatedAt: string;
  /** The move is not open any more, so there is nothing to do anyway. */
  isOver: boolean;
}

const CONFLICTS = ['EDIT_CONFLICT', 'MOVE_NOT_ALLOWED'];
const isConflict = (error: unknown): error is ApiError =>
  error instanceof ApiError && CONFLICTS.includes(error.body?.code ?? '');

/** A move in its dialog: what was typed is kept, and others' moves in between are told. */
export const useStaffMove = <Item extends AnyReturn>(
  kind: Kind,
  item: Item,
  move: StaffMove<Item>,
  onClose: () => void,
) => {
  const queryClient = useQueryClient();
  const { seen, ...draft } = useDialogDraft(moveDraftName(item.id, move.action), item.updatedAt, onClose);
  const [conflict, setConflict] = useState<Conflict | null>(null);

  const explain = async (error: ApiError): Promise<void> => {
    const since = conflict?.updatedAt ?? seen;
    const now = await queryClient.fetchQuery({ ...detailQuery<Item>(kind, item.id), staleTime: 0 });
    const entries = await queryClient.fetchQuery({ ...timelineQuery(kind, item.id), staleTime: 0 });
    setConflict({
      entries: movesSince(entries, since),
      status: now.status,
      updatedAt: now.updatedAt,
      isOver: error.body?.code === 'MOVE_NOT_ALLOWED',
    });
  };
  const { mutateAsync: send } = useMutation({
    mutationFn: async (body: MoveBody) => {
      try {
        const query = { seen: conflict?.updatedAt ?? seen };
        return await api.post<Item>(`${kind.path}/${item.id}/${move.action}`, body, {}, query);
      } catch (error) {
        if (isConflict(error)) await explain(error);
        throw error;
      }
    },
    onSuccess: (answer) => {
      draft.cancel();
      queryClient.setQueryData(detailQuery<Item>(kind, item.id).queryKey, answer);
      notifyDone(`${item.rmaNumber}: ${move.done.toLowerCase()}`);
    },
    onSettled: () => refetchReturns(queryClient, kind),
  });
  return { ...draft, conflict, send };
};
