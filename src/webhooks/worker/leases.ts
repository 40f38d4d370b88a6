import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { statement } from '../../db/statements.ts';
import type { Core } from '../../platform/core.ts';
import { warning } from '../../platform/log.ts';
import { ASK_AGAIN_MS, LEASE_MS, LONGEST_LEASE_MS, RENEW_MS } from '../policy.ts';
import { type Moment, type OwnTime, Stopwatch, systemTime } from './own-time.ts';

/** Takes or renews the leases that no other process holds; returns whose. */
const holding = statement(({ rows }, params: { wanted: object[]; nowMs: number; longestMs: number }) => {
  const wanted = rows('wanted', { receiver_id: 'id', holder: 'text', held_until: 'integer' }, params.wanted);
  return sql<{ receiver_id: string }>`
    insert into webhook_leases (receiver_id, holder, held_until)
    select receiver_id, holder, held_until from ${wanted} where true
    on conflict (receiver_id) do update set holder = excluded.holder, held_until = excluded.held_until
    where webhook_leases.holder = excluded.holder
      or webhook_leases.held_until <= ${params.nowMs}
      or webhook_leases.held_until > ${params.longestMs}
    returning receiver_id`;
});

/** Which receivers this process sends to. A process that dies leaves its receivers to the others when its leases are past. */
export class Leases {
  readonly #ctx: Core;
  readonly #stopwatch: Stopwatch;
  readonly #holder = randomUUID();
  /** When the lease ends. */
  readonly #held = new Map<string, Moment>();
  /** Held by another process; when to ask again. */
  readonly #elsewhere = new Map<string, Moment>();

  constructor(ctx: Core, time: OwnTime = systemTime) {
    this.#ctx = ctx;
    this.#stopwatch = new Stopwatch(ctx.clock, time);
  }

  /** How long it is of no use to ask for a receiver; 0 where it may be asked for. */
  askAfterMs(receiverId: string): number {
    return Math.max(0, this.#msLeft(this.#elsewhere, receiverId));
  }
  askAgain(): void {
    this.#elsewhere.clear();
  }
  /** Of these the receivers that are this process's for some seconds to come. */
  async of<Receiver extends { receiverId: string }>(receivers: Receiver[]): Promise<Receiver[]> {
    await this.#take(
      receivers
        .map(({ receiverId }) => receiverId)
        .filter((id) => this.#msLeft(this.#held, id) < LEASE_MS - RENEW_MS),
    );
    return receivers.filter(({ receiverId }) => this.#held.has(receiverId));
  }
  /** Whether the lease still runs: the process may have slept since it was taken. */
  holds(receiverId: string): boolean {
    return this.#msLeft(this.#held, receiverId) >= 0;
  }
  /** Renews the leases of receivers in use and forgets what has run out. */
  async keep(inUse: string[]): Promise<void> {
    await this.#take(inUse);
    for (const moments of [this.#held, this.#elsewhere])
      for (const receiverId of moments.keys())
        if (this.#msLeft(moments, receiverId) < 0) moments.delete(receiverId);
  }
  /** Releases all leases but those in use, and wakes the other processes. */
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

  /** Below zero once the moment has passed, or where there is none. */
  #msLeft(moments: Map<string, Moment>, receiverId: string): number {
    const moment = moments.get(receiverId);
    return moment ? this.#stopwatch.msUntil(moment) : -1;
  }
  async #take(receiverIds: string[]): Promise<void> {
    if (receiverIds.length === 0) return;
    const { webhooks, fill, clock } = this.#ctx;
    const nowMs = clock.now();
    const endsAt = this.#stopwatch.in(LEASE_MS);
    const askAt = this.#stopwatch.in(ASK_AGAIN_MS);
    const values = {
      // In order, so that two processes that want the same do not wait for each other.
      wanted: [...receiverIds]
        .sort()
        .map((id) => ({ receiver_id: id, holder: this.#holder, held_until: nowMs + LEASE_MS })),
      nowMs,
      longestMs: nowMs + LONGEST_LEASE_MS,
    };
    const { rows } = await webhooks.executeQuery(fill(holding, values));
    const taken = new Set(rows.map((row) => row.receiver_id));
    for (const receiverId of receiverIds)
      if (taken.has(receiverId)) {
        this.#held.set(receiverId, endsAt);
        this.#elsewhere.delete(receiverId);
      } else {
        this.#held.delete(receiverId);
        this.#elsewhere.set(receiverId, askAt);
      }
  }
}

/** For a process that knows it is the only one: the holder of each lease is dead (ADR 0006). */
export const freeLeases = async ({ webhooks, log }: Core): Promise<void> => {
  await webhooks
    .deleteFrom('webhook_leases')
    .execute()
    .catch(warning(log, 'old webhook leases could not be freed; they run out by themselves'));
};
