import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import type { StaffWaitingFor } from '../../../../contract/admin-returns.ts';
import { api } from '../../api.ts';
import { texts } from '../../texts.ts';
import { openDialog } from '../../ui/dialog-of-toast.tsx';
import { lazyPart } from '../../ui/lazy.tsx';
import { notify, notifyDone, notifyFailed } from '../../ui/notify.ts';
import { type AnyReturn, describeStatus, type Kind, noteFieldId } from '../kinds.ts';
import { detailQuery, refetchReturns } from '../queries.ts';
import { isConflict } from './conflict.tsx';
import { type MoveBack, type MoveBody, moveBack, type StaffMove } from './moves.ts';

// A toast says what was done; its buttons add a note or undo it.

const words = texts.moves;
const NoteDialog = lazyPart(async () => (await import('../detail/detail-forms.tsx')).NoteDialog);

/** Leads to the note's field where the return is on the page, else asks for the note in a dialog. */
const addNote = (kind: Kind, { id, rmaNumber }: AnyReturn): void => {
  const field = document.getElementById(noteFieldId(id));
  field?.scrollIntoView({ block: 'nearest' });
  if (field) field.focus();
  else
    openDialog((close) => <NoteDialog key={id} kind={kind} id={id} rmaNumber={rmaNumber} onClose={close} />);
};

export const sendMove = (kind: Kind, id: string, action: string, body: MoveBody, seen: string) =>
  api.post<AnyReturn>(`${kind.path}/${id}/${action}`, body, {}, { seen });

type Seen = Pick<AnyReturn, 'id' | 'updatedAt'>;

/** `until` is a time. */
export type Waiting = Pick<StaffWaitingFor, 'what' | 'until' | 'note'>;

export const setWaiting = (kind: Kind, item: Seen, { what, until, note }: Waiting): Promise<AnyReturn> =>
  api.put<AnyReturn>(`${kind.path}/${item.id}/waiting-for`, { what, until, note }, { seen: item.updatedAt });

/** Moves a return back to the status it had: a second move, with an event of its own. Fails where it was changed since. */
export const undoMove = async (kind: Kind, back: MoveBack): Promise<AnyReturn> => {
  const moved = await sendMove(kind, back.id, back.action, back.body, back.seen).catch((error: unknown) => {
    throw isConflict(error) ? new Error(words.changedSince) : error;
  });
  // The first move ended what it waited for.
  return back.waitingFor ? setWaiting(kind, moved, back.waitingFor) : moved;
};

const undo = async (queryClient: QueryClient, kind: Kind, rmaNumber: string, back: MoveBack) => {
  try {
    const now = await undoMove(kind, back);
    queryClient.setQueryData(detailQuery(kind, now.id).queryKey, now);
    notifyDone(words.movedBack(describeStatus(now.status).label));
  } catch (error) {
    notifyFailed(words.notUndone(rmaNumber), error);
  }
  await refetchReturns(queryClient, kind);
};

/** After a move: shows the return as it is now, and says so with what can be done about it. */
export const useMoved = (kind: Kind) => {
  const queryClient = useQueryClient();
  return (before: AnyReturn, after: AnyReturn, { done }: Pick<StaffMove<never>, 'done'>): void => {
    queryClient.setQueryData(detailQuery(kind, after.id).queryKey, after);
    const back = moveBack(before, after);
    void notify({
      message: words.done(after.rmaNumber, done),
      actions: [
        { label: words.addNote, run: () => addNote(kind, after) },
        ...(back
          ? [{ label: words.undo, run: () => void undo(queryClient, kind, after.rmaNumber, back) }]
          : []),
      ],
    });
  };
};
