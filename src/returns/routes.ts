import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { AddNote, AdminOfflineRepairQuery, AdminTradeReturnQuery } from '../../contract/admin.ts';
import {
  AdminOfflineRepair,
  AdminOfflineRepairList,
  AdminTradeReturn,
  AdminTradeReturnList,
  Assign,
  CorrectOfflineRepair,
  CorrectTradeReturn,
  MoveQuery,
  RelatedReturns,
  StoreList,
} from '../../contract/admin-returns.ts';
import { SearchQuery, SearchResult } from '../../contract/admin-search.ts';
import { IdempotencyKey, type Right, Timeline, TimelineQuery } from '../../contract/common.ts';
import {
  OFFLINE_REPAIR_MOVES,
  type OfflineRepairAction,
  TRADE_RETURN_MOVES,
  TRADE_RETURN_RECEIPT,
  type TradeReturnAction,
} from '../../contract/lifecycle.ts';
import {
  CreateOfflineRepair,
  OfflineRepair,
  OfflineRepairActionBody,
  OfflineRepairList,
  OfflineRepairQuery,
} from '../../contract/offline-repair.ts';
import {
  CreateTradeReturn,
  TradeReturn,
  TradeReturnList,
  TradeReturnMoveBody,
  TradeReturnQuery,
} from '../../contract/trade-return.ts';
import { DryRun } from '../../contract/usage.ts';
import { idempotencyKeyOf, routesOf, sendCreated, sendPage } from '../http/route.ts';
import type { Context } from '../service/context.ts';
import { offlineRepairs, type ReturnActions, type SeenCorrection, tradeReturns } from './actions.ts';
import type { Action, CreateBody } from './kinds/kind.ts';
import type { RmaFilters } from './list.ts';
import { searchReturns } from './search.ts';
import { type Ahead, type RmaTableName, readAhead } from './store.ts';
import { listStores } from './totals.ts';

// The routes of both kinds of RMA, in both APIs, from one table per kind.

/** What programs, or the staff, may ask for and are shown. */
interface Audience {
  query: z.ZodType<RmaFilters>;
  item: z.ZodType;
  list: z.ZodType;
}

interface MoveRoute {
  action: Action;
  operationId: string;
  summary: string;
  description: string;
  body: z.ZodType<object>;
}

interface KindApi {
  path: 'offline-repairs' | 'trade-returns';
  table: RmaTableName;
  tag: string;
  /** As operation ids and texts name it. */
  names: { id: string; one: string; many: string; short: string };
  create: z.ZodType<CreateBody>;
  correct: z.ZodType<SeenCorrection>;
  programs: Audience;
  staff: Audience;
  moves: MoveRoute[];
  /** What API clients need for its moves, and whether they may also say what they saw. */
  programMoves: { right: Right; query?: typeof MoveQuery };
  describe: { create: string; related: string };
  actions: ReturnActions;
}

const REPAIR_MOVES: Record<OfflineRepairAction, Omit<MoveRoute, 'action' | 'body'>> = {
  tracking: {
    operationId: 'uploadOfflineRepairTracking',
    summary: 'Lodge return tracking',
    description: 'Sets tracking number and carrier, in place of earlier ones. The status stays as it is.',
  },
  'begin-diagnostics': {
    operationId: 'beginOfflineRepairDiagnostics',
    summary: 'Begin diagnostics',
    description: 'Moves the repair to `OFFLINE_DIAGNOSTICS`, from any status.',
  },
  'begin-repair': {
    operationId: 'beginOfflineRepair',
    summary: 'Begin the repair',
    description:
      'Moves the repair to `OFFLINE_REPAIR`, from any status. A technician or notes given before stay where this call names none.',
  },
  resolve: {
    operationId: 'resolveOfflineRepair',
    summary: 'Set the disposition',
    description:
      'Moves the repair to `OFFLINE_RESOLVED`, from any status, and sets what becomes of the item.',
  },
  close: {
    operationId: 'closeOfflineRepair',
    summary: 'Close the repair',
    description: 'Moves the repair to `OFFLINE_CLOSED`, from any status. Needs no body.',
  },
};

const OFFLINE_REPAIRS: KindApi = {
  path: 'offline-repairs',
  tag: 'Offline repairs',
  table: 'offline_repairs',
  names: { id: 'OfflineRepair', one: 'an offline repair', many: 'offline repairs', short: 'repair' },
  create: CreateOfflineRepair,
  correct: CorrectOfflineRepair,
  programs: { query: OfflineRepairQuery, item: OfflineRepair, list: OfflineRepairList },
  staff: { query: AdminOfflineRepairQuery, item: AdminOfflineRepair, list: AdminOfflineRepairList },
  moves: (Object.keys(OFFLINE_REPAIR_MOVES) as OfflineRepairAction[]).map((action) => ({
    action,
    ...REPAIR_MOVES[action],
    body: OfflineRepairActionBody[action],
  })),
  programMoves: { right: 'write' },
  describe: {
    create:
      'For an item handed in at a counter, a service desk or a partner. Counts toward the monthly allowance. Send an `Idempotency-Key` and a retry after a lost answer creates nothing twice.',
    related: 'List earlier repairs of the item and returns of the customer',
  },
  actions: offlineRepairs,
};

/** What each is called, and what is said of it beyond its row in the table of moves. */
const TRADE_MOVES: Record<TradeReturnAction, { operationId: string; more?: string }> = {
  approve: { operationId: 'approveTradeReturn' },
  reject: { operationId: 'rejectTradeReturn' },
  receive: {
    operationId: 'receiveTradeReturn',
    more: ` With \`lines\` it counts what arrived, line by line, and may be called again, in ${TRADE_RETURN_RECEIPT.from.join(' and ')}: the status stays until every line is fully received or \`complete\` says so.`,
  },
  'request-credit': {
    operationId: 'requestTradeReturnCredit',
    more: ' The credit is the sum of price × accepted, unless `creditAmount` replaces it.',
  },
  resolve: { operationId: 'resolveTradeReturn' },
};

const TRADE_RETURNS: KindApi = {
  path: 'trade-returns',
  tag: 'Trade returns',
  table: 'trade_returns',
  names: { id: 'TradeReturn', one: 'a trade return', many: 'trade returns', short: 'trade return' },
  create: CreateTradeReturn,
  correct: CorrectTradeReturn,
  programs: { query: TradeReturnQuery, item: TradeReturn, list: TradeReturnList },
  staff: { query: AdminTradeReturnQuery, item: AdminTradeReturn, list: AdminTradeReturnList },
  moves: (Object.keys(TRADE_RETURN_MOVES) as TradeReturnAction[]).map((action) => ({
    action,
    operationId: TRADE_MOVES[action].operationId,
    summary: `Move to ${TRADE_RETURN_MOVES[action].to}`,
    description: `Allowed from ${TRADE_RETURN_MOVES[action].from.join(' and ')}; from another status a 409 names the allowed moves.${TRADE_MOVES[action].more ?? ''}`,
    body: TradeReturnMoveBody[action],
  })),
  programMoves: { right: 'move-trade-returns', query: MoveQuery },
  describe: {
    create:
      "A business-to-business return against a trade order. Counts toward the monthly allowance. The shop's staff move it from here, or a client with the right to; webhooks tell you.",
    related: 'List earlier returns of the company or customer',
  },
  actions: tradeReturns,
};

const headers = z.object({ 'Idempotency-Key': IdempotencyKey });

type Register = ReturnType<typeof routesOf>;

const dryRunRoute = (route: Register, ctx: Context, { path, names, create, actions }: KindApi): void =>
  route({
    at: `POST /${path}/dry-run`,
    operationId: `dryRun${names.id}`,
    limit: 'create',
    summary: `Try out ${names.one}`,
    description: `Checks the body as if it were sent to \`POST /${path}\`, the allowance and the rate limit included, and writes nothing: no RMA, no number, no event, no \`Idempotency-Key\`.`,
    headers,
    body: create,
    answer: [`The ${names.short} would have been created.`, DryRun],
    errors: [409, 422],
    handle: (request) => actions.dryRun(ctx, request.caller, request.body, idempotencyKeyOf(request)),
  });

const createAndListRoutes = (
  route: Register,
  ctx: Context,
  kind: KindApi,
  { query, list }: Audience,
): void => {
  const { path, names, create, programs, describe, actions } = kind;
  route({
    at: `POST /${path}`,
    operationId: `create${names.id}`,
    limit: 'create',
    hints: { dryRun: `to try it out, send the body to POST /${path}/dry-run` },
    summary: `Create ${names.one}`,
    description: describe.create,
    headers,
    body: create,
    answer: [
      `The ${names.short}, created (or, with \`Idempotency-Replayed: true\`, created before).`,
      programs.item,
    ],
    status: 201,
    errors: [409, 422],
    handle: (request, reply) =>
      sendCreated(reply, actions.create(ctx, request.caller, request.body, idempotencyKeyOf(request))),
  });
  route({
    at: `GET /${path}`,
    operationId: `list${names.id}s`,
    summary: `List ${names.many}`,
    description: `All ${names.short}s that programs of the shop created, newest first. Filters combine.`,
    query,
    answer: [`A page of ${names.short}s.`, list],
    handle: (request, reply) => sendPage(reply, actions.list(ctx, request.caller, request.query)),
  });
};

const readRoutes = (route: Register, ctx: Context, kind: KindApi, { item }: Audience): void => {
  const { path, table, names, actions } = kind;
  route({
    at: `GET /${path}/:id`,
    operationId: `get${names.id}`,
    readAhead: (params) => readAhead(ctx, table, (params as { id: string }).id),
    summary: `Read ${names.one}`,
    description: `The whole ${names.short} as it stands now, by its \`id\`. With an \`rmaNumber\`, ask the list.`,
    answer: [`The ${names.short} as it stands now.`, item],
    handle: ({ caller, params, ahead }) => actions.get(ctx, caller, params.id, ahead as Ahead),
  });
  route({
    at: `GET /${path}/:id/timeline`,
    operationId: `get${names.id}Timeline`,
    summary: `Read a ${names.short}'s timeline`,
    description: `Everything that happened to the ${names.short}, oldest first: who did what, when, and what they noted.`,
    query: TimelineQuery,
    answer: ['A page of the timeline.', Timeline],
    handle: ({ caller, params, query }, reply) =>
      sendPage(reply, actions.timeline(ctx, caller, params.id, query)),
  });
};

const moveRoutes = (
  route: Register,
  ctx: Context,
  kind: KindApi,
  { item }: Audience,
  { query, ...config }: { right?: Right; query?: typeof MoveQuery },
): void => {
  const { path, names, moves, actions } = kind;
  for (const { action, ...move } of moves)
    route({
      ...move,
      ...config,
      at: `POST /${path}/:id/${action}`,
      query,
      answer: [`The whole ${names.short}, as it stands after this.`, item],
      errors: [409],
      handle: ({ caller, params, body, query: { seen } }) =>
        actions.move(ctx, caller, params.id, action, body, seen),
    });
};

const staffRoutes = (route: Register, ctx: Context, kind: KindApi, { item }: Audience): void => {
  const { path, names, correct, describe, actions } = kind;
  route({
    at: `POST /${path}/:id/notes`,
    operationId: `note${names.id}`,
    summary: 'Add a note',
    description: 'Kept in the timeline. Sends no webhook.',
    body: AddNote,
    answer: [`The whole ${names.short}.`, item],
    errors: [409],
    handle: ({ caller, params, body }) => actions.note(ctx, caller, params.id, body.note),
  });
  route({
    at: `POST /${path}/:id/assign`,
    operationId: `assign${names.id}`,
    summary: 'Assign to a person of the team',
    description: 'The status stays as it is. Programs that follow changes get an `updated` event.',
    body: Assign,
    answer: [`The whole ${names.short}.`, item],
    errors: [409],
    handle: ({ caller, params, body }) => actions.assign(ctx, caller, params.id, body.assigneeId),
  });
  route({
    at: `POST /${path}/:id/correct`,
    operationId: `correct${names.id}`,
    summary: 'Correct a typing error',
    description:
      'Kept in the timeline with the old and the new value. Programs that follow changes get an `updated` event.',
    body: correct,
    answer: [`The whole ${names.short}, as it stands after this.`, item],
    errors: [409],
    handle: ({ caller, params, body }) => actions.correct(ctx, caller, params.id, body),
  });
  route({
    at: `GET /${path}/:id/related`,
    operationId: `getRelatedTo${names.id}`,
    summary: describe.related,
    answer: ['The earlier returns.', RelatedReturns],
    handle: ({ caller, params }) => actions.related(ctx, caller, params.id),
  });
};

export const returnRoutes = (app: FastifyInstance, ctx: Context): void => {
  for (const kind of [OFFLINE_REPAIRS, TRADE_RETURNS]) {
    const route = routesOf(app, { tag: kind.tag, right: 'write' });
    dryRunRoute(route, ctx, kind);
    createAndListRoutes(route, ctx, kind, kind.programs);
    readRoutes(route, ctx, kind, kind.programs);
    moveRoutes(route, ctx, kind, kind.programs, kind.programMoves);
  }
};

export const returnAdminRoutes = (app: FastifyInstance, ctx: Context): void => {
  for (const kind of [OFFLINE_REPAIRS, TRADE_RETURNS]) {
    const route = routesOf(app, { tag: kind.tag });
    createAndListRoutes(route, ctx, kind, kind.staff);
    readRoutes(route, ctx, kind, kind.staff);
    moveRoutes(route, ctx, kind, kind.staff, { query: MoveQuery });
    staffRoutes(route, ctx, kind, kind.staff);
  }
  routesOf(app, { tag: OFFLINE_REPAIRS.tag })({
    at: 'GET /stores',
    operationId: 'listStores',
    summary: 'List the stores of repairs',
    answer: ['The stores.', StoreList],
    handle: ({ caller }) => listStores(ctx, caller.shop.id),
  });
};

export const searchRoutes = (app: FastifyInstance, ctx: Context): void =>
  routesOf(app, { tag: 'Overview' })({
    at: 'GET /search',
    operationId: 'searchReturns',
    summary: 'Find a return of either kind',
    query: SearchQuery,
    answer: ['What was found.', SearchResult],
    handle: ({ caller, query }) => searchReturns(ctx, caller, query.q),
  });
