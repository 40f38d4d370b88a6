import type { RmaFilters } from '../../contract/admin-returns.ts';
import { isId } from '../../contract/common.ts';
import { perKind, RETURN_KINDS, type ReturnTable } from '../../contract/kinds.ts';
import type { ReturnAction } from '../../contract/lifecycle.ts';
import type { ReturnView } from '../../contract/webhook-event.ts';
import { newId } from '../lib/ids.ts';
import { type Caller, mustBeActive } from '../shops/plans.ts';
import { findAssignee, viewFor } from './assignees.ts';
import type { Wanted, WhatIsWanted } from './changes/decide.ts';
import { keyUse } from './idempotency.ts';
import type { CreateBody } from './kinds/kind.ts';
import { KINDS } from './kinds/kinds.ts';
import { listRmas } from './list.ts';
import type { ReturnServices } from './services.ts';
import { findReturn, notFound, type PrefetchedRow, type ReturnRow } from './store.ts';

/** The actions on returns of one kind. Each describes its change as data, on which `changes/` decides. */
const actionsOf = (table: ReturnTable) => {
  const { view } = KINDS[table];
  const { path } = RETURN_KINDS[table];

  const wantedBy = (ctx: ReturnServices, caller: Caller, what: WhatIsWanted): Wanted => {
    mustBeActive(caller.shop);
    if (!isId(what.id)) throw notFound(what.id);
    return { ...what, kind: table, caller, nowMs: ctx.clock.now() };
  };
  const creation = (
    ctx: ReturnServices,
    caller: Caller,
    body: CreateBody,
    key: string | undefined,
  ): Wanted => {
    const owner = caller.receiverId ?? caller.actor.id;
    const use = key === undefined || owner === null ? null : keyUse(owner, key, path, body);
    return wantedBy(ctx, caller, { type: 'create', id: newId(ctx.clock.now()), body, use });
  };
  const change = async (ctx: ReturnServices, caller: Caller, what: WhatIsWanted): Promise<ReturnView> => {
    // The view's data is read before the change, since nothing may fail after the commit.
    const shown = await viewFor(ctx, caller, view);
    const { row } = await ctx.changes.apply(wantedBy(ctx, caller, what));
    return shown(row as ReturnRow);
  };

  return {
    table,
    path,
    change,
    async create(ctx: ReturnServices, caller: Caller, body: CreateBody, key?: string) {
      const { response, isReplay } = await ctx.changes.apply(creation(ctx, caller, body, key));
      return { body: response as ReturnView, replayed: isReplay };
    },
    dryRun(ctx: ReturnServices, caller: Caller, body: CreateBody, key?: string) {
      return ctx.changes.tryOut(creation(ctx, caller, body, key));
    },
    async get(
      ctx: ReturnServices,
      caller: Caller,
      id: string,
      prefetched?: PrefetchedRow,
    ): Promise<ReturnView> {
      const [row, shown] = await Promise.all([
        findReturn(ctx, table, caller, id, prefetched),
        viewFor(ctx, caller, view),
      ]);
      return shown(row);
    },
    async list(ctx: ReturnServices, caller: Caller, query: RmaFilters) {
      return listRmas(ctx, table, caller, query, await viewFor(ctx, caller, view));
    },
    move(ctx: ReturnServices, caller: Caller, id: string, action: ReturnAction, body: object, seen?: number) {
      return change(ctx, caller, { type: 'move', id, action, body, seen });
    },
    async assign(ctx: ReturnServices, caller: Caller, id: string, assigneeId: string | null) {
      const assignee = assigneeId === null ? null : await findAssignee(ctx, caller.shop.id, assigneeId);
      return change(ctx, caller, { type: 'assign', id, assignee });
    },
  };
};

export type ReturnActions = ReturnType<typeof actionsOf>;

export const RETURN_ACTIONS = perKind(actionsOf);
export const { offline_repairs: offlineRepairs, trade_returns: tradeReturns } = RETURN_ACTIONS;
