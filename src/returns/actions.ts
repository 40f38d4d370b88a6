import { isId, type Page } from '../../contract/common.ts';
import type { OfflineRepair } from '../../contract/offline-repair.ts';
import type { TradeReturn } from '../../contract/trade-return.ts';
import { newId } from '../lib/ids.ts';
import type { Context } from '../service/context.ts';
import { type Caller, mustBeActive } from '../shops/plans.ts';
import type { Correction } from './changes/correct.ts';
import type { Wanted } from './changes/decide.ts';
import { keyUse } from './idempotency.ts';
import type { Action, CreateBody, Kind } from './kinds/kind.ts';
import { OFFLINE_REPAIR } from './kinds/offline-repair.ts';
import { TRADE_RETURN } from './kinds/trade-return.ts';
import { listRmas } from './list.ts';
import type { RmaFilters } from './list-query.ts';
import { findAssignee, viewFor, viewForStaff } from './people.ts';
import { findRelated } from './related.ts';
import { type Ahead, findRma, notFound } from './store.ts';
import { readTimeline } from './timeline.ts';
import type { ReturnRow, RmaTableName } from './visibility.ts';

type OfType<Type extends Wanted['type']> = Extract<Wanted, { type: Type }>;
type What = { [Type in Wanted['type']]: Omit<OfType<Type>, 'kind' | 'caller' | 'nowMs'> }[Wanted['type']];

/** What callers do with RMAs of one kind: what each says is passed on as data, and decided in `changes/`. */
const actionsOf = <
  Table extends RmaTableName,
  Body extends CreateBody,
  Answer extends OfflineRepair | TradeReturn,
  Query extends RmaFilters,
>(
  kind: Kind<Table, Body, Answer, Query>,
) => {
  const { table, view } = kind;

  const wantedBy = (ctx: Context, caller: Caller, what: What): Wanted => {
    mustBeActive(caller.shop);
    if (!isId(what.id)) throw notFound(what.id);
    return { ...what, kind: table, caller, nowMs: ctx.clock.now() };
  };
  const creation = (ctx: Context, caller: Caller, body: Body, key: string | undefined): Wanted => {
    const { actor } = caller;
    const use = key === undefined || actor.id === null ? null : keyUse(actor.id, key, kind.path, body);
    return wantedBy(ctx, caller, { type: 'create', id: newId(ctx.clock.now()), body, use });
  };
  /** What the view needs is read before the change: after its commit nothing may fail. */
  const change = async <Item>(
    ctx: Context,
    caller: Caller,
    reading: Promise<(row: ReturnRow<Table>) => Item>,
    what: What,
  ): Promise<Item> => {
    const shown = await reading;
    const { row } = await ctx.changes.make(wantedBy(ctx, caller, what));
    return shown(row as ReturnRow<Table>);
  };

  return {
    async create(
      ctx: Context,
      caller: Caller,
      body: Body,
      key?: string,
    ): Promise<{ answer: Answer; replayed: boolean }> {
      const { answer, isReplay } = await ctx.changes.make(creation(ctx, caller, body, key));
      return { answer: answer as Answer, replayed: isReplay };
    },
    dryRun: (ctx: Context, caller: Caller, body: Body, key?: string) =>
      ctx.changes.tryOut(creation(ctx, caller, body, key)),
    async get(ctx: Context, caller: Caller, id: string, ahead?: Ahead<Table>): Promise<Answer> {
      const [row, shown] = await Promise.all([
        findRma(ctx, table, caller, id, ahead),
        viewFor(ctx, caller, view),
      ]);
      return shown(row);
    },
    list: async (ctx: Context, caller: Caller, query: Query) =>
      listRmas(ctx, table, caller, query, kind.equal(query), await viewFor(ctx, caller, view)),
    timeline: (ctx: Context, caller: Caller, id: string, page: Page) =>
      readTimeline(ctx, table, caller, id, page),
    related: (ctx: Context, caller: Caller, id: string) => findRelated(ctx, table, caller, id),
    move: (ctx: Context, caller: Caller, id: string, action: Action, body: object, seen?: number) =>
      change(ctx, caller, viewFor(ctx, caller, view), { type: 'move', id, action, body, seen }),
    note: (ctx: Context, caller: Caller, id: string, note: string) =>
      change(ctx, caller, viewForStaff(ctx, caller, view), { type: 'note', id, note }),
    async assign(ctx: Context, caller: Caller, id: string, assigneeId: string | null) {
      const assignee = assigneeId === null ? null : await findAssignee(ctx, caller.shop.id, assigneeId);
      return change(ctx, caller, viewForStaff(ctx, caller, view), { type: 'assign', id, assignee });
    },
    correct: (
      ctx: Context,
      caller: Caller,
      id: string,
      { seen, ...fields }: Correction & { seen?: number | undefined },
    ) => change(ctx, caller, viewForStaff(ctx, caller, view), { type: 'correct', id, fields, seen }),
  };
};

export const offlineRepairs = actionsOf(OFFLINE_REPAIR);
export const tradeReturns = actionsOf(TRADE_RETURN);
