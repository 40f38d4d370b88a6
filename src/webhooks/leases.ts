import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Db } from '../db/database.ts';
import { ASK_AGAIN_MS, LEASE_MS, RENEW_MS } from './policy.ts';

// Which process sends to which receiver. A process that dies leaves its receivers to the others when its lease is past.

/** Takes or renews those that nobody else holds; gives back these. */
const hold = async (
  db: Db,
  clientIds: string[],
  lease: { holder: string; nowMs: number; untilMs: number },
): Promise<string[]> => {
  const rows = await db
    .insertInto('webhook_leases')
    // In order, so that two processes that want the same do not wait for each other.
    .values(
      [...clientIds]
        .sort()
        .map((clientId) => ({ client_id: clientId, holder: lease.holder, held_until: lease.untilMs })),
    )
    .onConflict((conflict) =>
      conflict
        .column('client_id')
        .doUpdateSet({ holder: lease.holder, held_until: lease.untilMs })
        .where((eb) =>
          eb.or([
            eb('webhook_leases.holder', '=', lease.holder),
            eb('webhook_leases.held_until', '<=', lease.nowMs),
          ]),
        ),
    )
    .returning('client_id')
    .execute();
  return rows.map((row) => row.client_id);
};

/** Of the receivers that this process serves, as far as it knows. */
export const createLeases = ({ lightly, clock }: Pick<Context, 'lightly' | 'clock'>) => {
  const holder = randomUUID();
  const held = new Map<string, number>();
  /** Somebody else's, and when it is worth asking again. */
  const elsewhere = new Map<string, number>();

  const take = async (clientIds: string[], nowMs: number): Promise<void> => {
    if (clientIds.length === 0) return;
    const untilMs = nowMs + LEASE_MS;
    const taken = new Set(await lightly((db) => hold(db, clientIds, { holder, nowMs, untilMs })));
    for (const clientId of clientIds)
      if (taken.has(clientId)) {
        held.set(clientId, untilMs);
        elsewhere.delete(clientId);
      } else {
        held.delete(clientId);
        elsewhere.set(clientId, nowMs + ASK_AGAIN_MS);
      }
  };
  const runsOut = (clientId: string, nowMs: number): boolean =>
    (held.get(clientId) ?? 0) < nowMs + LEASE_MS - RENEW_MS;

  return {
    /** From when on it is worth asking for a receiver. */
    freeAt: (clientId: string): number => elsewhere.get(clientId) ?? 0,
    /** Of these the receivers that are this process's for some seconds to come. */
    async of<Receiver extends { clientId: string }>(receivers: Receiver[]): Promise<Receiver[]> {
      const nowMs = clock.now();
      const wanted = receivers.map(({ clientId }) => clientId).filter((each) => runsOut(each, nowMs));
      await take(wanted, nowMs);
      return receivers.filter(({ clientId }) => held.has(clientId));
    },
    /** Keeps those that something is still under way to; of the others what has run out is forgotten. */
    async keep(underWay: string[]): Promise<void> {
      const nowMs = clock.now();
      await take(
        underWay.filter((each) => runsOut(each, nowMs)),
        nowMs,
      );
      for (const known of [held, elsewhere])
        for (const [clientId, untilMs] of known) if (untilMs <= nowMs) known.delete(clientId);
    },
    /** Leaves all to the others. */
    release: (): Promise<unknown> =>
      lightly((db) => db.deleteFrom('webhook_leases').where('holder', '=', holder).execute()),
  };
};
