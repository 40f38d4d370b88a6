import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { statement } from '../../db/statements.ts';
import type { Core } from '../../platform/core.ts';
import { warning } from '../../platform/log.ts';
import { LEASE_MS, LEASE_RETRY_MS, MAX_LEASE_MS, RENEW_MS } from '../policy.ts';
import {
  type Deadline,
  DeadlineClock,
  type MonotonicClock,
  systemMonotonicClock,
} from './monotonic-clock.ts';

/** Takes or renews the leases that no other process holds, and returns their receivers. */
const acquireLeases = statement(
  ({ rows }, params: { wanted: object[]; nowMs: number; longestMs: number }) => {
    const wanted = rows(
      'wanted',
      { receiver_id: 'id', holder: 'text', held_until: 'integer' },
      params.wanted,
    );
    return sql<{ receiver_id: string }>`
    insert into webhook_leases (receiver_id, holder, held_until)
    select receiver_id, holder, held_until from ${wanted} where true
    on conflict (receiver_id) do update set holder = excluded.holder, held_until = excluded.held_until
    where webhook_leases.holder = excluded.holder
      or webhook_leases.held_until <= ${params.nowMs}
      or webhook_leases.held_until > ${params.longestMs}
    returning receiver_id`;
  },
);

/** Decides which receivers this process sends to. When a process dies, the others take its receivers once its leases end. */
export class Leases {
  readonly #ctx: Core;
  readonly #deadlines: DeadlineClock;
  readonly #holder = randomUUID();
  /** The end of each lease that this process holds. */
  readonly #held = new Map<string, Deadline>();
  /** The time to ask again for each lease that another process holds. */
  readonly #heldByOthers = new Map<string, Deadline>();

  constructor(ctx: Core, time: MonotonicClock = systemMonotonicClock) {
    this.#ctx = ctx;
    this.#deadlines = new DeadlineClock(ctx.clock, time);
  }

  /** Returns how long another process is expected to hold the lease of a receiver; 0 if it may be free. */
  msUntilLeaseMayBeFree(receiverId: string): number {
    return Math.max(0, this.#msLeft(this.#heldByOthers, receiverId));
  }
  forgetOtherHolders(): void {
    this.#heldByOthers.clear();
  }
  /** Acquires leases that last for some more seconds, and returns the receivers for which it succeeded. */
  async acquire<Item extends { receiverId: string }>(receivers: Item[]): Promise<Item[]> {
    await this.#take(
      receivers
        .map(({ receiverId }) => receiverId)
        .filter((id) => this.#msLeft(this.#held, id) < LEASE_MS - RENEW_MS),
    );
    return receivers.filter(({ receiverId }) => this.#held.has(receiverId));
  }
  /** Returns whether the lease still runs, since the process may have slept after taking it. */
  holds(receiverId: string): boolean {
    return this.#msLeft(this.#held, receiverId) >= 0;
  }
  /** Renews the leases of receivers in use and forgets expired entries. */
  async renew(inUse: string[]): Promise<void> {
    await this.#take(inUse);
    for (const deadlines of [this.#held, this.#heldByOthers])
      for (const receiverId of deadlines.keys())
        if (this.#msLeft(deadlines, receiverId) < 0) deadlines.delete(receiverId);
  }
  /** Releases all leases except those in use, and wakes the other processes. */
  async release(inUse: string[]): Promise<void> {
    const { webhooks, oneOf, wake } = this.#ctx;
    for (const receiverId of this.#held.keys())
      if (!inUse.includes(receiverId)) this.#held.delete(receiverId);
    const { numDeletedRows } = await webhooks
      .deleteFrom('webhook_leases')
      .where('holder', '=', this.#holder)
      .where(sql<boolean>`not (receiver_id ${oneOf('id', inUse)})`)
      .executeTakeFirst();
    if (numDeletedRows > 0n) wake('deliveries', null);
  }

  /** Returns a negative number if the deadline has passed or does not exist. */
  #msLeft(deadlines: Map<string, Deadline>, receiverId: string): number {
    const deadline = deadlines.get(receiverId);
    return deadline ? this.#deadlines.msUntil(deadline) : -1;
  }
  async #take(receiverIds: string[]): Promise<void> {
    if (receiverIds.length === 0) return;
    const { webhooks, fill, clock } = this.#ctx;
    const nowMs = clock.now();
    const endsAt = this.#deadlines.in(LEASE_MS);
    const askAt = this.#deadlines.in(LEASE_RETRY_MS);
    const values = {
      // The order is the same in all processes, which avoids deadlocks.
      wanted: [...receiverIds]
        .sort()
        .map((id) => ({ receiver_id: id, holder: this.#holder, held_until: nowMs + LEASE_MS })),
      nowMs,
      longestMs: nowMs + MAX_LEASE_MS,
    };
    const { rows } = await webhooks.executeQuery(fill(acquireLeases, values));
    const taken = new Set(rows.map((row) => row.receiver_id));
    for (const receiverId of receiverIds)
      if (taken.has(receiverId)) {
        this.#held.set(receiverId, endsAt);
        this.#heldByOthers.delete(receiverId);
      } else {
        this.#held.delete(receiverId);
        this.#heldByOthers.set(receiverId, askAt);
      }
  }
}

/** Frees all leases. Only a process that knows it is the only one may call this: all holders are dead (ADR 0006). */
export const freeLeases = async ({ webhooks, log }: Core): Promise<void> => {
  await webhooks
    .deleteFrom('webhook_leases')
    .execute()
    .catch(warning(log, 'old webhook leases could not be freed; they run out by themselves'));
};
