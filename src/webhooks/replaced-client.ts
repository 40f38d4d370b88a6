import { sql } from 'kysely';
import { type Change, change, statement } from '../db/statements.ts';
import type { Context } from '../service/context.ts';
import { PENDING, waitingFor } from './queue.ts';

// What waits for a client that was replaced goes to the client that took its place, with its attempts and its schedule.

/** Bounded, so that the statement is short. The dispatcher moves what is left. */
const MOVED_AT_ONCE = 2_000;

interface Move {
  from: string;
  to: string;
  /** Deliveries that are being sent right now, which stay where they are. */
  unsettled: string[];
}

const moving = statement((engine, { from, to, unsettled }: Move) => {
  const ids = waitingFor(engine, { clientId: from, unsettled, most: MOVED_AT_ONCE });
  return engine.db
    .updateTable('webhook_deliveries')
    .set({ client_id: to })
    .where('status', '=', PENDING)
    .where(sql<boolean>`id ${engine.among(ids)}`);
});

/** The process that sends to the old client goes on with the new one: only it knows which of these it is sending. */
const passingOnLease = statement(
  ({ rows }, { heirs }: { heirs: { client_id: string; from_id: string }[] }) => {
    const heir = rows('heir', { client_id: 'id', from_id: 'id' }, heirs);
    return sql`
    insert into webhook_leases (client_id, holder, held_until)
    select heir.client_id, lease.holder, lease.held_until
    from webhook_leases as lease, ${heir} where lease.client_id = heir.from_id`;
  },
);

/** Part of the change that replaces a client. */
export const takeOverDeliveries = (from: string, to: string): Change[] => [
  change(moving, { from, to, unsettled: [] }),
  change(passingOnLease, { heirs: [{ client_id: to, from_id: from }] }),
];

/** For what was written while the client was being replaced, and what was left over. Returns how many were moved. */
export const moveDeliveries = async ({ webhooks, fill }: Context, move: Move): Promise<number> => {
  const { numAffectedRows } = await webhooks.executeQuery(fill(moving, move));
  return Number(numAffectedRows ?? 0);
};
