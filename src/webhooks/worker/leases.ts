import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import { statement } from '../../db/statements.ts';
import { ASK_AGAIN_MS, LEASE_MS, LONGEST_LEASE_MS, RENEW_MS } from '../policy.ts';
import { createStopwatch, type Moment } from './stopwatch.ts';

// Which process sends to which receiver. A process that dies leaves its receivers to the others when its lease is past.

type Needed = Pick<Context, 'withoutFsync' | 'clock' | 'oneOf' | 'fill'>;

/** Takes or renews the leases that nobody else holds; returns whose. One text, whatever their number. */
const holding = statement(({ rows }, params: { wanted: object[]; nowMs: number; longestMs: number }) => {
  const wanted = rows('wanted', { client_id: 'id', holder: 'text', held_until: 'integer' }, params.wanted);
  return sql<{ client_id: string }>`
    insert into webhook_leases (client_id, holder, held_until)
    select client_id, holder, held_until from ${wanted} where true
    on conflict (client_id) do update set holder = excluded.holder, held_until = excluded.held_until
    where webhook_leases.holder = excluded.holder
      or webhook_leases.held_until <= ${params.nowMs}
      or webhook_leases.held_until > ${params.longestMs}
    returning client_id`;
});

/** Takes or renews these leases for the holder; returns those that it has now. */
const hold = async (
  { withoutFsync, fill }: Needed,
  clientIds: string[],
  holder: string,
  nowMs: number,
): Promise<Set<string>> => {
  const values = {
    // In order, so that two processes that want the same do not wait for each other.
    wanted: [...clientIds]
      .sort()
      .map((clientId) => ({ client_id: clientId, holder, held_until: nowMs + LEASE_MS })),
    nowMs,
    longestMs: nowMs + LONGEST_LEASE_MS,
  };
  const { rows } = await withoutFsync.executeQuery(fill(holding, values));
  return new Set(rows.map((row) => row.client_id));
};

/** Gives up all leases of the holder but these; returns how many that were. */
const giveUp = async ({ withoutFsync, oneOf }: Needed, holder: string, but: string[]): Promise<number> => {
  const { numDeletedRows } = await withoutFsync
    .deleteFrom('webhook_leases')
    .where('holder', '=', holder)
    .where(sql<boolean>`not (client_id ${oneOf('id', but)})`)
    .executeTakeFirst();
  return Number(numDeletedRows);
};

/** Of the receivers that this process serves, as far as it knows. */
export const createLeases = (ctx: Needed) => {
  const holder = randomUUID();
  const stopwatch = createStopwatch(ctx.clock);
  const held = new Map<string, Moment>();
  /** Another process's, and when that was found out. */
  const elsewhere = new Map<string, Moment>();

  const take = async (clientIds: string[]): Promise<void> => {
    if (clientIds.length === 0) return;
    const at = stopwatch.now();
    const taken = await hold(ctx, clientIds, holder, at.clockMs);
    for (const clientId of clientIds)
      if (taken.has(clientId)) {
        held.set(clientId, at);
        elsewhere.delete(clientId);
      } else {
        held.delete(clientId);
        elsewhere.set(clientId, at);
      }
  };
  const runsOut = (clientId: string): boolean => {
    const since = held.get(clientId);
    return !since || stopwatch.passedSince(since) > RENEW_MS;
  };

  return {
    /** How long it is of no use to ask for a receiver; 0 where it may be asked for. */
    askAfterMs(clientId: string): number {
      const since = elsewhere.get(clientId);
      return since ? Math.max(0, ASK_AGAIN_MS - stopwatch.passedSince(since)) : 0;
    },
    /** Of these the receivers that are this process's for some seconds to come. */
    async of<Receiver extends { clientId: string }>(receivers: Receiver[]): Promise<Receiver[]> {
      await take(receivers.map(({ clientId }) => clientId).filter(runsOut));
      return receivers.filter(({ clientId }) => held.has(clientId));
    },
    /** Renews those that something is still under way to; of the others what has run out is forgotten. */
    async keep(underWay: string[]): Promise<void> {
      await take(underWay);
      for (const [clientId, since] of held)
        if (stopwatch.passedSince(since) > LEASE_MS) held.delete(clientId);
      for (const [clientId, since] of elsewhere)
        if (stopwatch.passedSince(since) > ASK_AGAIN_MS) elsewhere.delete(clientId);
    },
    /** Another process may have left its receivers: each may be asked for at once. */
    askAgain: (): void => elsewhere.clear(),
    /** Leaves all but these to the others; returns how many that were. */
    async release(but: string[]): Promise<number> {
      for (const clientId of held.keys()) if (!but.includes(clientId)) held.delete(clientId);
      return giveUp(ctx, holder, but);
    },
  };
};
export type Leases = ReturnType<typeof createLeases>;
