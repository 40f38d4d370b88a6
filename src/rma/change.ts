import type { Updateable } from 'kysely';
import { isId } from '../../contract/common.ts';
import type { TimelineType } from '../../contract/lifecycle.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Write } from '../db/database.ts';
import { isLockTimeout } from '../db/errors.ts';
import type { Tables } from '../db/schema.ts';
import { type Event, logged } from '../events/event.ts';
import { type Counter, keepCounters, lockCounters, takeInstant } from '../shops/counters.ts';
import { mustBeActive } from '../shops/plans.ts';
import { type Reachable, reachableClients } from '../webhooks/recipient.ts';
import { type Change, type Receivers, record } from './record.ts';
import { mustBeUnchanged, type Seen } from './seen.ts';
import { lockRma, notFound, updateRma } from './store.ts';
import type { RmaRow, RmaTableName } from './visibility.ts';

/** What a change does to an RMA, decided from its current state. */
interface ChangeOf<Table extends RmaTableName> {
  set?: Updateable<Tables[Table]>;
  entry: TimelineType;
  note?: string | null;
  data?: Record<string, unknown>;
  /** The event that it fires, from the RMA before and after; none if nobody outside is told. */
  event?(before: RmaRow<Table>, after: RmaRow<Table>): Event;
  /** What else is written with it. */
  alongside?(at: number): Write[];
}

interface Changed<Table extends RmaTableName> {
  after: RmaRow<Table>;
  receivers: Receivers;
  hasEvent: boolean;
}

/**
 * Changes an RMA of either kind with its timeline entry and event, all or nothing. Changes of one RMA run one at a time. Where
 * `decide` answers null there is nothing to change. With `seen`, what somebody did in between refuses the change.
 */
export const changeRma = async <Table extends RmaTableName>(
  ctx: Context,
  caller: Caller,
  table: Table,
  id: string,
  decide: (before: RmaRow<Table>) => ChangeOf<Table> | null,
  seen?: Seen,
): Promise<RmaRow<Table>> => {
  mustBeActive(caller.shop);
  if (!isId(id)) throw notFound(id);
  const shopId = caller.shop.id;
  let areCountersHeld = false;
  const attempt = (heldCounters: 'wait' | 'leave out'): Promise<Changed<Table> | null> =>
    ctx.atomically<Changed<Table> | null>(async (trx) => {
      const locking = lockRma(trx, table, caller, id);
      // In this order: it is also the order in which they are locked.
      const [before, counters, reachable] = await Promise.all([
        locking,
        lockCounters(ctx, trx, [shopId], heldCounters).catch(async (error) => {
          await locking;
          areCountersHeld = isLockTimeout(error);
          throw error;
        }),
        reachableClients(ctx, trx, [shopId], { table, rmaId: id }),
      ]);
      const counter = counters.get(shopId);
      if (!counter) return { writes: [], result: null };
      const what = decide(before);
      if (seen) await mustBeUnchanged(trx, before, seen);
      if (!what) return { writes: [], result: unchanged(before) };
      return write(ctx, caller, table, { before, counter, reachable, what });
    });
  const { shopTurns } = ctx;
  const changed = shopTurns.areTaken(shopId) ? null : await attempt('leave out');
  const { after, receivers, hasEvent } =
    changed ??
    ((await shopTurns.wait(
      shopId,
      () => attempt('wait'),
      () => areCountersHeld,
    )) as Changed<Table>);
  for (const receiver of receivers.values()) ctx.wake('deliveries', receiver);
  if (hasEvent) ctx.wake('events', shopId);
  return after;
};

const unchanged = <Table extends RmaTableName>(after: RmaRow<Table>): Changed<Table> => ({
  after,
  receivers: new Map(),
  hasEvent: false,
});

interface Decided<Table extends RmaTableName> {
  before: RmaRow<Table>;
  counter: Counter;
  reachable: Reachable[];
  what: ChangeOf<Table>;
}

const write = <Table extends RmaTableName>(
  ctx: Context,
  caller: Caller,
  table: Table,
  { before, counter, reachable, what }: Decided<Table>,
): { writes: Write[]; result: Changed<Table> } => {
  const { set, entry, note, data, event, alongside } = what;
  // Times of one RMA strictly rise, also when two changes fall into the same millisecond.
  const at = takeInstant(counter, Math.max(ctx.clock.now(), before.updated_at + 1));
  const entersStatus = { ...before, ...set }.status !== before.status;
  const change = { ...set, updated_at: at, ...(entersStatus ? { status_since: at } : {}) };
  const after: RmaRow<Table> = { ...before, ...change };
  const inLog = event ? logged(counter, after, at, event(before, after)) : null;
  const made: Change = {
    caller,
    kind: table,
    rma: after,
    type: entry,
    at,
    fromStatus: before.status,
    note: note ?? null,
    data: data ?? {},
    event: inLog,
  };
  const { writes, receivers } = record([made], reachable);
  return {
    writes: [
      ...writes,
      ...(alongside?.(at) ?? []),
      updateRma(table, before.id, change),
      keepCounters([counter]),
    ],
    result: { after, receivers, hasEvent: inLog !== null },
  };
};

/** Adds a note of the shop's staff to the timeline. Fires no event. */
export const addNote = <Table extends RmaTableName>(
  ctx: Context,
  caller: Caller,
  table: Table,
  id: string,
  note: string,
): Promise<RmaRow<Table>> => changeRma(ctx, caller, table, id, () => ({ entry: 'NOTE_ADDED', note }));
