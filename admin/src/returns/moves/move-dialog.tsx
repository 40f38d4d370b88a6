import { Alert, Modal, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { AdminTradeReturn } from '../../../../contract/admin-returns.ts';
import { texts } from '../../texts.ts';
import { TradeItems } from '../detail/trade-items.tsx';
import { moveDraftName, useDialogDraft } from '../draft.tsx';
import type { AnyReturn, Kind } from '../kinds.ts';
import { useMoney } from '../numbers.ts';
import { refetchReturns } from '../queries.ts';
import { type Conflict, ConflictAlert, isConflict, readConflict } from './conflict.tsx';
import { MoveForm } from './move-form.tsx';
import type { MoveBody, StaffMove } from './moves.ts';
import { sendMove, useMoved } from './toasts.tsx';

const words = texts.moves;

interface Props<Item> {
  kind: Kind;
  /** As it stands now, also while the dialog is open. */
  item: Item;
  move: StaffMove<Item>;
  /** What a move at once ran into. */
  found?: Conflict | undefined;
  onClose(): void;
}

/** Asks for a move's fields, with a warning where there is one. Only Cancel throws away what was typed. */
export const MoveDialog = <Item extends AnyReturn>(props: Props<Item>) => {
  const { kind, item, move } = props;
  const { stored, conflict, send, keep, closeForNow, cancel, forget } = useStaffMove(props);
  const warning = conflict?.isOver ? null : move.warning(item);
  const asksForCredit = move.action === 'request-credit' && 'items' in item;
  return (
    <Modal
      opened
      onClose={closeForNow}
      closeOnClickOutside={false}
      size={asksForCredit ? 'xl' : 'md'}
      title={`${move.label}: ${item.rmaNumber}`}
      closeButtonProps={{ 'aria-label': words.closeDialog }}
    >
      <MoveForm
        kind={kind}
        move={{ ...move, fields: [...move.ownFields, ...move.fields] }}
        initialValues={move.initialValues(item)}
        draft={{ stored, keep, forget }}
        conflict={conflict}
        onSend={send}
        onCancel={conflict ? closeForNow : cancel}
      >
        {conflict ? <ConflictAlert kind={kind} conflict={conflict} label={move.label} /> : null}
        {warning ? <Alert color="orange">{warning}</Alert> : null}
        {asksForCredit ? <CreditLines tradeReturn={item} /> : null}
        {move.fields.length === 0 && !conflict ? (
          <Text size="sm">{words.sure(move.label, kind.one)}</Text>
        ) : null}
      </MoveForm>
    </Modal>
  );
};

/** Long lists scroll by themselves, so that the amount and the fields below are always in sight. */
const CreditLines = ({ tradeReturn }: { tradeReturn: AdminTradeReturn }) => {
  const money = useMoney();
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without a mouse, the arrow keys scroll it only when it has the focus */}
      <section aria-label={words.items} tabIndex={0} className="scrolls" style={{ maxHeight: '40vh' }}>
        <TradeItems tradeReturn={tradeReturn} hasTotals={false} />
      </section>
      <Text>
        {words.credit} <strong>{money(tradeReturn.creditAmount ?? 0)}</strong>{' '}
        <Text span c="dimmed">
          {words.ofDeclared(money(tradeReturn.declaredAmount))}
        </Text>
      </Text>
    </>
  );
};

const useStaffMove = <Item extends AnyReturn>({ kind, item, move, found, onClose }: Props<Item>) => {
  const queryClient = useQueryClient();
  const moved = useMoved(kind);
  const { seen, ...draft } = useDialogDraft(moveDraftName(item.id, move.action), item.updatedAt, onClose);
  const [conflict, setConflict] = useState(found ?? null);
  const { mutateAsync: send } = useMutation({
    mutationFn: async (body: MoveBody) => {
      const since = conflict?.updatedAt ?? seen;
      try {
        return await sendMove(kind, item.id, move.action, body, since);
      } catch (error) {
        if (isConflict(error)) setConflict(await readConflict(queryClient, kind, item.id, since, error));
        throw error;
      }
    },
    onSuccess: (result) => {
      draft.cancel();
      moved(item, result, move);
    },
    onSettled: () => refetchReturns(queryClient, kind),
  });
  return { ...draft, conflict, send };
};
