import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { ALL_TYPES, type EventQuery, LATEST } from '../../contract/event-feed.ts';
import { SPECIFIED_EVENTS } from '../../contract/webhook-event.ts';
import type { Context } from '../service/context.ts';
import { warning } from '../service/log.ts';
import { type FeedPage, readFeed, startOf } from './feed.ts';

// Requests that wait for a shop's next event. They hold no connection to the database: one wake-up call, the same that the
// dispatcher gets, ends their wait, and they read again.

/** Beyond so many a request does not wait: the answer comes at once, as without `wait`. */
const MOST_WAITING = { perShop: 500, total: 2_000 } as const;
/** A wake-up call is lost where a process dies right after its commit. */
const POLL_EVERY_MS = 5_000;
/** How long a reader rests after events that it did not ask for: a busy shop would have it read hundreds of times a second. */
const SKIP_REST_MS = 100;

/**
 * A page of the shop's feed, as JSON. Where there is nothing new, it waits for that as long as the query says. `checkAgain` throws where
 * the caller may not read any more: a key may be revoked while its request waits.
 */
export const followFeed = async (
  ctx: Context,
  shopId: string,
  { after, limit, wait, types: asked = [...SPECIFIED_EVENTS] }: EventQuery,
  { signal, checkAgain }: { signal: AbortSignal; checkAgain(): Promise<void> },
): Promise<string> => {
  const endsAt = performance.now() + wait * 1000;
  const start = await startOf(ctx, shopId, after);
  const types = asked === ALL_TYPES ? null : asked.toSorted();
  // Before the first read: an event that comes after it ends the wait.
  const waiter = start === LATEST || wait === 0 ? null : ctx.feedWatches.enter(shopId, start);
  try {
    let found = await readFeed(ctx, shopId, start, limit, types);
    while (waiter && found.isEmpty && performance.now() < endsAt) {
      // Past events that were not asked for: they are not read again.
      waiter.position = found.last;
      const call = await ctx.feedWatches.wait(waiter, endsAt - performance.now(), signal);
      if (signal.aborted) break;
      await checkAgain();
      if (!call) break;
      const key = `${waiter.position} ${limit} ${types}`;
      const shared = call.get(key) ?? readFeed(ctx, shopId, waiter.position, limit, types);
      call.set(key, shared);
      found = await shared;
      if (found.isEmpty) await pause(SKIP_REST_MS);
    }
    return found.page;
  } finally {
    if (waiter) ctx.feedWatches.leave(shopId, waiter);
  }
};

/** The pages that were read after one wake-up call: waiters that want the same one share it. */
type Call = Map<string, Promise<FeedPage>>;

interface Waiter {
  /** How far it has read. */
  position: number;
  /** Also one that came before the wait. */
  call: Call | null;
  resume(): void;
}

export class FeedWatches {
  readonly #ctx: Context;
  readonly #waiters = new Map<string, Set<Waiter>>();
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;
  #unlisten: (() => void) | null = null;

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  get size(): number {
    return [...this.#waiters.values()].reduce((sum, own) => sum + own.size, 0);
  }

  /** null: too many wait already, or the service stops. */
  enter(shopId: string, position: number): Waiter | null {
    const own = this.#waiters.get(shopId) ?? new Set();
    const isFull = this.size >= MOST_WAITING.total || own.size >= MOST_WAITING.perShop;
    if (this.#isStopped || isFull) return null;
    this.#unlisten ??= this.#ctx.onWake('events', (id) =>
      id === null ? void this.#poll() : this.#callAll(id, () => true),
    );
    this.#timer ??= setInterval(() => this.#poll(), POLL_EVERY_MS).unref();
    const waiter: Waiter = { position, call: null, resume() {} };
    this.#waiters.set(shopId, own.add(waiter));
    return waiter;
  }

  /** null: the time is over, the caller has left, or the service stops. */
  async wait(waiter: Waiter, timeoutMs: number, signal: AbortSignal): Promise<Call | null> {
    if (!waiter.call && !signal.aborted && !this.#isStopped) {
      this.#ctx.metrics.openRequests -= 1;
      const resumed = new AbortController();
      waiter.resume = () => resumed.abort();
      const ended = AbortSignal.any([signal, resumed.signal]);
      await pause(timeoutMs, undefined, { signal: ended }).catch(() => {});
      this.#ctx.metrics.openRequests += 1;
    }
    const { call } = waiter;
    waiter.call = null;
    return call;
  }

  leave(shopId: string, waiter: Waiter): void {
    const own = this.#waiters.get(shopId);
    own?.delete(waiter);
    if (own?.size === 0) this.#waiters.delete(shopId);
  }

  /** Ends every wait, and lets no request wait from now on. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    for (const own of this.#waiters.values()) for (const waiter of own) waiter.resume();
    this.#unlisten?.();
  }

  #callAll(shopId: string, isConcerned: (waiter: Waiter) => boolean): void {
    const call: Call = new Map();
    for (const waiter of this.#waiters.get(shopId) ?? [])
      if (isConcerned(waiter)) {
        waiter.call = call;
        waiter.resume();
      }
  }

  /** One statement for all shops and their waiters; without it each waiter would read again, 400 reads a second of 2,000. */
  async #poll(): Promise<void> {
    const shopIds = [...this.#waiters.keys()];
    if (shopIds.length === 0) return;
    try {
      const { lists, oneOf } = this.#ctx;
      const newest = await lists
        .selectFrom('shop_counters')
        .select(['shop_id', 'last_position'])
        .where(sql<boolean>`shop_id ${oneOf('id', shopIds)}`)
        .execute();
      for (const { shop_id, last_position } of newest)
        this.#callAll(shop_id, ({ position }) => position !== last_position);
    } catch (error) {
      warning(this.#ctx.log, 'polling for new events failed; it will be tried again')(error);
    }
  }
}
