import { isId, type Page } from '../../contract/common.ts';
import { newId } from '../lib/ids.ts';
import type { Context } from '../service/context.ts';
import { type Caller, mustBeActive } from '../shops/plans.ts';
import type { Wanted, WhatIsWanted } from './changes/decide.ts';
import { keyUse } from './idempotency.ts';
import type { Action, Correction, CreateBody, Kind, ReturnView } from './kinds/kind.ts';
import { OFFLINE_REPAIR } from './kinds/offline-repair.ts';
import { TRADE_RETURN } from './kinds/trade-return.ts';
import { listRmas, type RmaFilters } from './list.ts';
import { findAssignee, viewFor } from './people.ts';
import { findRelated } from './related.ts';
import { type Ahead, findRma, notFound, type ReturnRow } from './store.ts';
import { readTimeline } from './timeline.ts';

export type SeenCorrection = Correction & { seen?: number | undefined };

/** What callers do with RMAs of one kind: what each says is passed on as data, and decided in `changes/`. */
const actionsOf = (kind: Kind) => {
  const { table, view } = kind;

  const wantedBy = (ctx: Context, caller: Caller, what: WhatIsWanted): Wanted => {
    mustBeActive(caller.shop);
    if (!isId(what.id)) throw notFound(what.id);
    return { ...what, kind: table, caller, nowMs: ctx.clock.now() };
  };
  const creation = (ctx: Context, caller: Caller, body: CreateBody, key: string | undefined): Wanted => {
    const { actor } = caller;
    const use = key === undefined || actor.id === null ? null : keyUse(actor.id, key, kind.path, body);
    return wantedBy(ctx, caller, { type: 'create', id: newId(ctx.clock.now()), body, use });
  };
  /** What the view needs is read before the change: after its commit nothing may fail. */
  const change = async (ctx: Context, caller: Caller, what: WhatIsWanted): Promise<ReturnView> => {
    const shown = await viewFor(ctx, caller, view);
    const { row } = await ctx.changes.apply(wantedBy(ctx, caller, what));
    return shown(row as ReturnRow);
  };

  return {
    async create(ctx: Context, caller: Caller, body: CreateBody, key?: string) {
      const { answer, isReplay } = await ctx.changes.apply(creation(ctx, caller, body, key));
      return { answer: answer as ReturnView, replayed: isReplay };
    },
    dryRun(ctx: Context, caller: Caller, body: CreateBody, key?: string) {
      return ctx.changes.tryOut(creation(ctx, caller, body, key));
    },
    async get(ctx: Context, caller: Caller, id: string, ahead?: Ahead): Promise<ReturnView> {
      const [row, shown] = await Promise.all([
        findRma(ctx, table, caller, id, ahead),
        viewFor(ctx, caller, view),
      ]);
      return shown(row);
    },
    async list(ctx: Context, caller: Caller, query: RmaFilters) {
      return listRmas(ctx, table, caller, query, kind.equal(query), await viewFor(ctx, caller, view));
    },
    timeline(ctx: Context, caller: Caller, id: string, page: Page) {
      return readTimeline(ctx, table, caller, id, page);
    },
    related(ctx: Context, caller: Caller, id: string) {
      return findRelated(ctx, table, caller, id);
    },
    move(ctx: Context, caller: Caller, id: string, action: Action, body: object, seen?: number) {
      return change(ctx, caller, { type: 'move', id, action, body, seen });
    },
    note(ctx: Context, caller: Caller, id: string, note: string) {
      return change(ctx, caller, { type: 'note', id, note });
    },
    async assign(ctx: Context, caller: Caller, id: string, assigneeId: string | null) {
      const assignee = assigneeId === null ? null : await findAssignee(ctx, caller.shop.id, assigneeId);
      return change(ctx, caller, { type: 'assign', id, assignee });
    },
    correct(ctx: Context, caller: Caller, id: string, { seen, ...fields }: SeenCorrection) {
      return change(ctx, caller, { type: 'correct', id, fields, seen });
    },
  };
};

export type ReturnActions = ReturnType<typeof actionsOf>;

export const offlineRepairs = actionsOf(OFFLINE_REPAIR);
export const tradeReturns = actionsOf(TRADE_RETURN);
