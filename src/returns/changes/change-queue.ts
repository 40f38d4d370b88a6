import type { DryRun } from '../../../contract/usage.ts';
import { afterFailure, isLockTimeout } from '../../db/database-errors.ts';
import type { Db, ReadThenWrite } from '../../db/types.ts';
import { AGAIN, batched, QueueTimeout, queueDeadline, type Results } from '../../lib/batch.ts';
import { BoundedQueue } from '../../lib/bounded-queue.ts';
import type { Core } from '../../platform/core.ts';
import { ServiceError } from '../../platform/errors.ts';
import { usageOf } from '../../shops/allowance.ts';
import type { Locking } from '../../shops/counters.ts';
import { keyName } from '../idempotency.ts';
import { BatchDecider, type Changed, type ChangeResult, LOCKED, type Wanted } from './decide.ts';
import { BatchReading } from './read.ts';
import { writesOf } from './write.ts';

// The one path of every change: queue → read → decide → write. Concurrent changes share a transaction, which locks the
// counters of their shops and nothing else. If another transaction has locked the counter of a shop, its changes wait
// for a short time in a separate queue, so that no other shop waits for it.

interface Queued {
  wanted: Wanted;
  overdueAt: number;
}

const deadlineOf = ({ overdueAt }: Queued): number => overdueAt;

type Enqueue = (item: Queued) => Promise<Changed>;

const MAX_WAITING_PER_SHOP = 500;
/** How long a locked shop waits for one of the few connections for locked shops. */
const CONNECTION_WAIT_MS = 1_000;

export class ChangeQueue {
  readonly #ctx: Core;
  readonly #pipeline: Enqueue;
  readonly #lockedShops = new Map<string, { enqueue: Enqueue; pending: number }>();
  readonly #connectionSlots: BoundedQueue;
  readonly #keys = new Set<string>();
  /** Called while changes wait for a lock that another transaction holds. */
  onLocked: () => void = () => {};

  constructor(ctx: Core) {
    const { batchSize, mostLockWaits } = ctx.changeTransactions;
    this.#ctx = ctx;
    this.#pipeline = batched((items, sent) => this.#runPipelined(items, sent), {
      most: batchSize,
      deadlineOf,
      afterFailure,
    });
    this.#connectionSlots = new BoundedQueue({
      atOnce: mostLockWaits,
      waiting: 1_000,
      withinMs: CONNECTION_WAIT_MS,
      refusal: () => new QueueTimeout('too many shops wait for a lock'),
    });
  }

  async apply(wanted: Wanted): Promise<Changed> {
    const key = wanted.type === 'create' && wanted.use ? keyName(wanted.use) : null;
    if (key !== null && this.#keys.has(key)) throw new ServiceError('IDEMPOTENCY_KEY_IN_USE');
    if (key !== null) this.#keys.add(key);
    const item = { wanted, overdueAt: queueDeadline() };
    const isLocked = this.#lockedShops.has(wanted.caller.shop.id);
    try {
      const changed = await (isLocked ? this.#waitForShop(item) : this.#pipeline(item));
      // The changes are committed: from here on nothing may be retried.
      this.announce(changed);
      return changed;
    } finally {
      if (key !== null) this.#keys.delete(key);
    }
  }

  announce({ receiver, event }: Changed): void {
    if (receiver !== null) this.#ctx.wake('deliveries', receiver);
    if (event) this.#ctx.wake('events', event.shop_id);
  }

  /** Decides on a creation without locks, and writes nothing (docs/contract.md). */
  async tryOut(wanted: Wanted): Promise<DryRun> {
    const { shop } = wanted.caller;
    const { facts, result } = await decideOn(this.#ctx, this.#ctx.reads, wanted, 'none');
    if (result instanceof ServiceError) throw result;
    const response = result.response as { status: DryRun['status']; isDangerous?: boolean };
    const { remaining } = usageOf(facts.counters.get(shop.id), shop, wanted.nowMs);
    return { dryRun: true, status: response.status, isDangerous: response.isDangerous ?? null, remaining };
  }

  async #runPipelined(items: Queued[], sent: () => void): Promise<Results<Changed>> {
    const { pipelined } = this.#ctx.changeTransactions;
    const results = await this.#run(pipelined, items, 'skip', sent);
    return items.map((item, i) => {
      const result = results[i] ?? LOCKED;
      return result === LOCKED ? this.#waitForShop(item) : result;
    });
  }

  /** Adds a change to the queue of its shop, which exists while it is not empty. */
  async #waitForShop(item: Queued): Promise<Changed> {
    const shopId = item.wanted.caller.shop.id;
    const shop = this.#lockedShops.get(shopId) ?? { enqueue: this.#newShopQueue(), pending: 0 };
    this.#lockedShops.set(shopId, shop);
    shop.pending += 1;
    try {
      return await shop.enqueue(item);
    } finally {
      shop.pending -= 1;
      if (shop.pending === 0) this.#lockedShops.delete(shopId);
    }
  }

  #newShopQueue(): Enqueue {
    const { batchSize, waiting } = this.#ctx.changeTransactions;
    const work = async (items: Queued[]): Promise<Results<Changed>> => {
      const running = this.#connectionSlots.run(() => this.#run(waiting, items, 'wait'));
      this.onLocked();
      return (await running).map((result) => (result === LOCKED ? AGAIN : result));
    };
    return batched(work, { most: batchSize, capacity: MAX_WAITING_PER_SHOP, deadlineOf, afterFailure });
  }

  async #run(
    transaction: ReadThenWrite,
    items: Queued[],
    locking: Locking,
    sent?: () => void,
  ): Promise<ChangeResult[]> {
    const batch = items.map(({ wanted }) => wanted);
    const reading = new BatchReading(this.#ctx, batch, locking);
    const decide = (results: object[][]) => {
      const decider = new BatchDecider(reading.factsFrom(results));
      for (const wanted of batch) decider.add(wanted);
      return { writes: writesOf(decider), result: decider.results };
    };
    try {
      return await transaction(reading.queries, decide, sent);
    } catch (error) {
      // Another transaction has locked another row of one of these shops.
      if (isLockTimeout(error)) return items.map(() => LOCKED);
      throw error;
    }
  }
}

/** Decides on one change outside the queue, from what this connection reads. It writes nothing. */
export const decideOn = async (ctx: Core, db: Db, wanted: Wanted, locking: Locking) => {
  const reading = new BatchReading(ctx, [wanted], locking);
  const results: object[][] = [];
  for (const query of reading.queries) results.push((await db.executeQuery<object>(query)).rows);
  const facts = reading.factsFrom(results);
  const decider = new BatchDecider(facts);
  decider.add(wanted);
  const [result = LOCKED] = decider.results;
  if (result === LOCKED) throw new ServiceError('SERVICE_UNAVAILABLE');
  return { facts, decider, result };
};
