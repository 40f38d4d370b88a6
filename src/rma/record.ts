import type { Insertable } from 'kysely';
import type { Actor } from '../../contract/common.ts';
import type { TimelineType } from '../../contract/lifecycle.ts';
import type { Caller } from '../caller.ts';
import type { Write } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import type { EventSubject, LoggedEvent } from '../events/event.ts';
import { newId } from '../ids.ts';
import { deliveryOf } from '../webhooks/outbox.ts';
import type { Reachable } from '../webhooks/recipient.ts';
import { keepTotals, originOf, type TotalChange } from './totals.ts';
import type { RmaTableName } from './visibility.ts';

/** A change that was just made to an RMA: what its timeline tells of it, and the event it fires. */
export interface Change {
  caller: Caller;
  kind: RmaTableName;
  /** As it stands after the change. */
  rma: EventSubject;
  type: TimelineType;
  at: number;
  /** null: it was created. */
  fromStatus: string | null;
  note: string | null;
  data: Record<string, unknown>;
  event: LoggedEvent | null;
}

/** By the RMA's id, the client that its event is for: to be woken after the commit. */
export type Receivers = ReadonlyMap<string, string>;

/**
 * How changes are written down, in the transaction that makes them: no change without its entry, its event and its place in
 * the totals, and none of these without it. With whom there is something for.
 */
export const record = (
  changes: Change[],
  reachable: Reachable[],
): { writes: Write[]; receivers: Receivers } => {
  const events = changes.flatMap(({ event }) => event ?? []);
  const deliveries = changes.flatMap(({ caller, rma, event }) =>
    event && rma.client_id !== null ? (deliveryOf(caller.shop, rma.client_id, event, reachable) ?? []) : [],
  );
  return {
    writes: [
      { table: 'timeline', rows: changes.map(entryOf) },
      ...(events.length > 0 ? [{ table: 'events', rows: events } as const] : []),
      ...(deliveries.length > 0 ? [{ table: 'webhook_deliveries', rows: deliveries } as const] : []),
      ...keepTotals(changes.flatMap(totalChanges)),
    ],
    receivers: new Map(deliveries.map(({ rma_id, client_id }) => [rma_id ?? '', client_id])),
  };
};

const entryOf = ({
  rma,
  at,
  type,
  caller,
  fromStatus,
  note,
  data,
}: Change): Insertable<Tables['timeline']> => {
  const actor: Actor = caller.actor;
  return {
    rma_id: rma.id,
    at,
    id: newId(at),
    type,
    actor_type: actor.type,
    actor_id: actor.id,
    actor_name: actor.name,
    from_status: fromStatus,
    to_status: rma.status,
    note,
    data: JSON.stringify(data),
  };
};

const totalChanges = ({ caller, kind, rma, fromStatus }: Change): TotalChange[] => {
  const total = (status: string, count: number): TotalChange => ({
    shop_id: caller.shop.id,
    kind,
    origin: originOf(rma),
    status,
    count,
  });
  if (fromStatus === rma.status) return [];
  return [...(fromStatus === null ? [] : [total(fromStatus, -1)]), total(rma.status, 1)];
};
