import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { ALL_TYPES, type EventQuery, LATEST } from '../../contract/event-feed.ts';
import { SPECIFIED_EVENTS } from '../../contract/webhook-event.ts';
import type { Core } from '../platform/core.ts';
import { warning } from '../platform/log.ts';
import { type FeedPage, readFeed, startOf } from './feed.ts';

// Requests that wait for a shop's next event. They hold no connection to the database: a wake-up, the same that the
// dispatcher gets, ends their wait, and they read again.

/** Above these limits a request does not wait: the response comes immediately, as without `wait`. */
const MOST_WAITING = { perShop: 500, total: 2_000 } as const;
/** A wake-up is lost if a process dies right after its commit. */
const POLL_EVERY_MS = 5_000;
/** A reader pauses this long after events of other types, since a busy shop would wake it hundreds of times a second. */
const SKIP_REST_MS = 100;

/** The pages that were read after one wake-up, so that waiters share equal ones. */
type WakeUp = Map<string, Promise<FeedPage>>;

interface Waiter {
  position: number;
  /** It may have come before the wait. */
  wakeUp: WakeUp | null;
  resume(): void;
}

export class FeedWatches {
  readonly #ctx: Core;
  readonly #waiters = new Map<string, Set<Waiter>>();
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;
  #unlisten: (() => void) | null = null;

  constructor(ctx: Core) {
    this.#ctx = ctx;
  }

  /**
   * Returns a page of the shop's feed as JSON. If there is nothing new, it waits as long as the query allows. `checkAgain` throws if the
   * caller lost access, since a key may be revoked while its request waits.
   */
  async follow(
    shopId: string,
    { after, limit, wait, types: requested = [...SPECIFIED_EVENTS] }: EventQuery,
    { signal, checkAgain }: { signal: AbortSignal; checkAgain(): Promise<void> },
  ): Promise<string> {
    const ctx = this.#ctx;
    const endsAt = performance.now() + wait * 1000;
    const start = await startOf(ctx, shopId, after);
    const types = requested === ALL_TYPES ? null : requested.toSorted();
    // It is registered before the first read, so that an event after that read ends the wait.
    const waiter = start === LATEST || wait === 0 ? null : this.enter(shopId, start);
    try {
      let found = await readFeed(ctx, shopId, start, limit, types);
      while (waiter && found.isEmpty && performance.now() < endsAt) {
        // The waiter has passed events of other types, which are not read again.
        waiter.position = found.last;
        const wakeUp = await this.wait(waiter, endsAt - performance.now(), signal);
        if (signal.aborted) break;
        await checkAgain();
        if (!wakeUp) break;
        const key = `${waiter.position} ${limit} ${types}`;
        const shared = wakeUp.get(key) ?? readFeed(ctx, shopId, waiter.position, limit, types);
        wakeUp.set(key, shared);
        found = await shared;
        if (found.isEmpty) await pause(SKIP_REST_MS);
      }
      return found.page;
    } finally {
      if (waiter) this.leave(shopId, waiter);
    }
  }

  get size(): number {
    return [...this.#waiters.values()].reduce((sum, own) => sum + own.size, 0);
  }

  /** Returns null if too many requests wait already, or the service stops. */
  enter(shopId: string, position: number): Waiter | null {
    const own = this.#waiters.get(shopId) ?? new Set();
    const isFull = this.size >= MOST_WAITING.total || own.size >= MOST_WAITING.perShop;
    if (this.#isStopped || isFull) return null;
    this.#unlisten ??= this.#ctx.onWake('events', (id) =>
      id === null ? void this.#poll() : this.#wakeAll(id, () => true),
    );
    this.#timer ??= setInterval(() => this.#poll(), POLL_EVERY_MS).unref();
    const waiter: Waiter = { position, wakeUp: null, resume() {} };
    this.#waiters.set(shopId, own.add(waiter));
    return waiter;
  }

  /** Returns null if the time is over, the caller has left, or the service stops. */
  async wait(waiter: Waiter, timeoutMs: number, signal: AbortSignal): Promise<WakeUp | null> {
    if (!waiter.wakeUp && !signal.aborted && !this.#isStopped) {
      this.#ctx.metrics.openRequests -= 1;
      const resumed = new AbortController();
      waiter.resume = () => resumed.abort();
      const ended = AbortSignal.any([signal, resumed.signal]);
      await pause(timeoutMs, undefined, { signal: ended }).catch(() => {});
      this.#ctx.metrics.openRequests += 1;
    }
    const { wakeUp } = waiter;
    waiter.wakeUp = null;
    return wakeUp;
  }

  leave(shopId: string, waiter: Waiter): void {
    const own = this.#waiters.get(shopId);
    own?.delete(waiter);
    if (own?.size === 0) this.#waiters.delete(shopId);
  }

  /** Ends every wait. No request waits from now on. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    for (const own of this.#waiters.values()) for (const waiter of own) waiter.resume();
    this.#unlisten?.();
  }

  #wakeAll(shopId: string, isAffected: (waiter: Waiter) => boolean): void {
    const wakeUp: WakeUp = new Map();
    for (const waiter of this.#waiters.get(shopId) ?? [])
      if (isAffected(waiter)) {
        waiter.wakeUp = wakeUp;
        waiter.resume();
      }
  }

  /** It runs one statement for all shops, since 2,000 waiters that each read again would be 400 reads a second. */
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
        this.#wakeAll(shop_id, ({ position }) => position !== last_position);
    } catch (error) {
      warning(this.#ctx.log, 'polling for new events failed; it will be tried again')(error);
    }
  }
}
