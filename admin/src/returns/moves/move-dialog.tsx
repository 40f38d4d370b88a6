import { Alert, List, Modal, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { AdminTradeReturn } from '../../../../contract/admin-returns.ts';
import type { TimelineEntry } from '../../../../contract/common.ts';
import { MOVE_ENTRIES, type TimelineType } from '../../../../contract/lifecycle.ts';
import { ApiError, api } from '../../api.ts';
import { notifyDone } from '../../ui/notify.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TradeItems } from '../detail/trade-items.tsx';
import { moveDraftName, useDialogDraft } from '../draft.tsx';
import { type AnyReturn, describeStatus, dispositionLabel, type Kind } from '../kinds.ts';
import { useMoney } from '../numbers.ts';
import { detailQuery, refetchReturns, timelineQuery } from '../queries.ts';
import { MoveForm } from './move-form.tsx';
import type { MoveBody, StaffMove } from './moves.ts';

interface Props<Item> {
  kind: Kind;
  /** As it stands now, also while the dialog is open. */
  item: Item;
  move: StaffMove<Item>;
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
      closeButtonProps={{ 'aria-label': 'Close the dialog' }}
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
        {move.fields.length === 0 ? (
          <Text size="sm">
            {move.label} this {kind.one}?
          </Text>
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
      <section aria-label="Items" tabIndex={0} style={{ maxHeight: '40vh', overflowY: 'auto' }}>
        <TradeItems tradeReturn={tradeReturn} hasTotals={false} />
      </section>
      <Text>
        Credit for what was accepted: <strong>{money(tradeReturn.creditAmount ?? 0)}</strong>{' '}
        <Text span c="dimmed">
          of {money(tradeReturn.declaredAmount)} declared
        </Text>
      </Text>
    </>
  );
};

interface ConflictAlertProps {
  kind: Kind;
  conflict: Conflict;
  label: string;
}

const ConflictAlert = ({ kind, conflict: { entries, status, isOver }, label }: ConflictAlertProps) => (
  <Alert color="orange" role="alert" title="Someone else changed this return">
    <Stack gap="xs">
      {entries.length > 0 ? (
        <List size="sm">
          {entries.map((entry) => (
            <List.Item key={entry.id}>
              <strong>{entry.actor.name}</strong> {whatHappened(entry)} <RelativeTime at={entry.at} />.
            </List.Item>
          ))}
        </List>
      ) : null}
      <Text size="sm">
        {isOver
          ? `The ${kind.one} is now “${describeStatus(status).label}”, so “${label}” is not possible any more. What you typed is still here.`
          : 'Nothing was done yet, and what you typed is still here.'}
      </Text>
    </Stack>
  </Alert>
);

interface Conflict {
  entries: TimelineEntry[];
  status: string;
  updatedAt: string;
  /** The move is not open any more, so there is nothing to do anyway. */
  isOver: boolean;
}

const CONFLICTS = ['EDIT_CONFLICT', 'MOVE_NOT_ALLOWED'];
const isConflict = (error: unknown): error is ApiError =>
  error instanceof ApiError && CONFLICTS.includes(error.body?.code ?? '');

const useStaffMove = <Item extends AnyReturn>({ kind, item, move, onClose }: Props<Item>) => {
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

// What a colleague did: "closed it".

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const SENTENCES: Partial<Record<TimelineType, (entry: TimelineEntry) => string>> = {
  TRACKING_UPLOADED: ({ data }) => `added tracking ${textOf(data['trackingNumber'])}`,
  STATUS_CHANGED: ({ toStatus }) => `changed the status to ${describeStatus(toStatus ?? '').label}`,
  DISPOSITION_SET: ({ data }) => `resolved it (${dispositionLabel(textOf(data['offlineDisposition']))})`,
  CLOSED: () => 'closed it',
  CREDIT_REQUESTED: () => 'requested the credit',
  RESOLVED: () => 'resolved it',
  ITEMS_RECEIVED: () => 'counted what arrived',
};

const whatHappened = (entry: TimelineEntry): string => SENTENCES[entry.type]?.(entry).trim() ?? 'changed it';

const movesSince = (entries: readonly TimelineEntry[], seen: string): TimelineEntry[] =>
  entries.filter(({ at, type }) => at > seen && MOVE_ENTRIES.includes(type));
