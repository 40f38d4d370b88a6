import type { Updateable } from 'kysely';
import type { TimelineType } from '../../contract/lifecycle.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Tables } from '../db/tables.ts';
import { mustBeActive } from '../shops/plans.ts';
import type { Event } from '../webhooks/outbox.ts';
import { reachableClients } from '../webhooks/recipient.ts';
import { nextInstant, record } from './record.ts';
import { lockRma, updateRma } from './store.ts';
import type { RmaRow, RmaTableName } from './visibility.ts';

/** What a change does to an RMA, decided from its current state. */
interface ChangeOf<Table extends RmaTableName> {
  set?: Updateable<Tables[Table]>;
  entry: TimelineType;
  note?: string | null;
  data?: Record<string, unknown>;
  /** The event that it fires, from the RMA before and after; none if nobody outside is told. */
  event?(before: RmaRow<Table>, after: RmaRow<Table>): Event;
}

/** Changes an RMA of either kind with its timeline entry and event, all or nothing. Changes of one RMA run one at a time. */
export const changeRma = async <Table extends RmaTableName>(
  ctx: Context,
  caller: Caller,
  table: Table,
  id: string,
  decide: (before: RmaRow<Table>) => ChangeOf<Table>,
): Promise<RmaRow<Table>> => {
  mustBeActive(caller.shop);
  const { after, receivers } = await ctx.atomically(async (trx) => {
    const [before, reachable] = await Promise.all([
      lockRma(trx, table, caller, id),
      reachableClients(ctx, trx, [caller.shop.id]),
    ]);
    const { set, entry, note, data, event } = decide(before);
    const at = nextInstant(ctx.clock.now(), before.updated_at);
    const change = { ...set, updated_at: at };
    const after: RmaRow<Table> = { ...before, ...change };
    const { writes, receivers } = record(
      [
        {
          caller,
          kind: table,
          rma: after,
          type: entry,
          at,
          fromStatus: before.status,
          note: note ?? null,
          data: data ?? {},
          event: event ? event(before, after) : null,
        },
      ],
      reachable,
    );
    const update = updateRma(table, before.id, change);
    return { writes: [...writes, update], result: { after, receivers } };
  });
  for (const receiver of receivers.values()) ctx.wake(receiver);
  return after;
};

/** Adds a note of the shop's staff to the timeline. Fires no event. */
export const addNote = <Table extends RmaTableName>(
  ctx: Context,
  caller: Caller,
  table: Table,
  id: string,
  note: string,
): Promise<RmaRow<Table>> => changeRma(ctx, caller, table, id, () => ({ entry: 'NOTE_ADDED', note }));
