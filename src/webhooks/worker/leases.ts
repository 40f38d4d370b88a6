import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { statement } from '../../db/statements.ts';
import type { Context } from '../../service/context.ts';
import { warning } from '../../service/log.ts';
import { ASK_AGAIN_MS, LEASE_MS, LONGEST_LEASE_MS, RENEW_MS } from '../policy.ts';
import { type Moment, type OwnTime, Stopwatch, systemTime } from './own-time.ts';

/** Takes or renews the leases that no other process holds; returns whose. */
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

/** Which receivers this process sends to. A process that dies leaves its receivers to the others when its leases are past. */
export class Leases {
  readonly #ctx: Context;
  readonly #stopwatch: Stopwatch;
  readonly #holder = randomUUID();
  /** When the lease ends. */
  readonly #held = new Map<string, Moment>();
  /** Held by another process; when to ask again. */
  readonly #elsewhere = new Map<string, Moment>();

  constructor(ctx: Context, time: OwnTime = systemTime) {
    this.#ctx = ctx;
    this.#stopwatch = new Stopwatch(ctx.clock, time);
  }

  /** How long it is of no use to ask for a receiver; 0 where it may be asked for. */
  askAfterMs(clientId: string): number {
    return Math.max(0, this.#msLeft(this.#elsewhere, clientId));
  }
  askAgain(): void {
    this.#elsewhere.clear();
  }
  /** Of these the receivers that are this process's for some seconds to come. */
  async of<Receiver extends { clientId: string }>(receivers: Receiver[]): Promise<Receiver[]> {
    await this.#take(
      receivers
        .map(({ clientId }) => clientId)
        .filter((id) => this.#msLeft(this.#held, id) < LEASE_MS - RENEW_MS),
    );
    return receivers.filter(({ clientId }) => this.#held.has(clientId));
  }
  /** Whether the lease still runs: the process may have slept since it was taken. */
  holds(clientId: string): boolean {
    return this.#msLeft(this.#held, clientId) >= 0;
  }
  /** Renews the leases of receivers in use and forgets what has run out. */
  async keep(inUse: string[]): Promise<void> {
    await this.#take(inUse);
    for (const moments of [this.#held, this.#elsewhere])
      for (const clientId of moments.keys())
        if (this.#msLeft(moments, clientId) < 0) moments.delete(clientId);
  }
  /** Releases all leases but those in use, and wakes the other processes. */
  async release(inUse: string[]): Promise<void> {
    const { webhooks, oneOf, wake } = this.#ctx;
    for (const clientId of this.#held.keys()) if (!inUse.includes(clientId)) this.#held.delete(clientId);
    const { numDeletedRows } = await webhooks
      .deleteFrom('webhook_leases')
      .where('holder', '=', this.#holder)
      .where(sql<boolean>`not (client_id ${oneOf('id', inUse)})`)
      .executeTakeFirst();
    if (numDeletedRows > 0n) wake('deliveries', null);
  }

  /** Below zero once the moment has passed, or where there is none. */
  #msLeft(moments: Map<string, Moment>, clientId: string): number {
    const moment = moments.get(clientId);
    return moment ? this.#stopwatch.msUntil(moment) : -1;
  }
  async #take(clientIds: string[]): Promise<void> {
    if (clientIds.length === 0) return;
    const { webhooks, fill, clock } = this.#ctx;
    const nowMs = clock.now();
    const endsAt = this.#stopwatch.in(LEASE_MS);
    const askAt = this.#stopwatch.in(ASK_AGAIN_MS);
    const values = {
      // In order, so that two processes that want the same do not wait for each other.
      wanted: [...clientIds]
        .sort()
        .map((id) => ({ client_id: id, holder: this.#holder, held_until: nowMs + LEASE_MS })),
      nowMs,
      longestMs: nowMs + LONGEST_LEASE_MS,
    };
    const { rows } = await webhooks.executeQuery(fill(holding, values));
    const taken = new Set(rows.map((row) => row.client_id));
    for (const clientId of clientIds)
      if (taken.has(clientId)) {
        this.#held.set(clientId, endsAt);
        this.#elsewhere.delete(clientId);
      } else {
        this.#held.delete(clientId);
        this.#elsewhere.set(clientId, askAt);
      }
  }
}

/** For a process that knows it is the only one: the holder of each lease is dead (ADR 0006). */
export const freeLeases = async ({ webhooks, log }: Context): Promise<void> => {
  await webhooks
    .deleteFrom('webhook_leases')
    .execute()
    .catch(warning(log, 'old webhook leases could not be freed; they run out by themselves'));
};
