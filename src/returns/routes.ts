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
  FaultList,
  FaultQuery,
  MoveQuery,
  RelatedReturns,
  SetWaitingFor,
  StoreList,
} from '../../contract/admin-returns.ts';
import { SearchQuery, SearchResult } from '../../contract/admin-search.ts';
import { IdempotencyKey, type Right, Timeline, TimelineQuery } from '../../contract/common.ts';
import {
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
import type { ErrorCode } from '../platform/errors.ts';
import { offlineRepairs, type ReturnActions, tradeReturns } from './actions.ts';
import type { Action, Correction, CreateBody } from './kinds/kind.ts';
import type { RmaFilters } from './list.ts';
import { findRelated, frequentFaults, searchReturns } from './search.ts';
import type { ReturnServices } from './services.ts';
import { type PrefetchedRow, prefetchRow } from './store.ts';
import { readTimeline } from './timeline.ts';
import { listStores } from './totals.ts';

// The routes of all kinds of returns in both APIs, from one table per kind.

/** The query and response schemas for API clients, or for staff. */
interface Audience {
  query: z.ZodType<RmaFilters>;
  item: z.ZodType;
  list: z.ZodType;
}

type MoveTexts = Record<'operationId' | 'summary' | 'description', string>;

interface KindApi {
  tag: string;
  /** The kind's names in operation ids and texts. */
  names: { id: string; one: string; many: string; short: string };
  create: z.ZodType<CreateBody>;
  correct: z.ZodType<Correction & { seen?: number | undefined }>;
  clients: Audience;
  staff: Audience;
  moves: { [Name in Action]?: MoveTexts };
  moveBodies: { [Name in Action]?: z.ZodType<object> };
  /** The errors of a move that a status does not allow. */
  refusedMoves: readonly ErrorCode[];
  /** The right that API clients need for moves, and whether they may send `seen`. */
  clientMoves: { right: Right; query?: typeof MoveQuery };
  describe: { create: string; related: string };
  actions: ReturnActions;
}

const REPAIR_MOVES: Record<OfflineRepairAction, MoveTexts> = {
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
  tag: 'Offline repairs',
  names: { id: 'OfflineRepair', one: 'an offline repair', many: 'offline repairs', short: 'repair' },
  create: CreateOfflineRepair,
  correct: CorrectOfflineRepair,
  clients: { query: OfflineRepairQuery, item: OfflineRepair, list: OfflineRepairList },
  staff: { query: AdminOfflineRepairQuery, item: AdminOfflineRepair, list: AdminOfflineRepairList },
  moves: REPAIR_MOVES,
  moveBodies: OfflineRepairActionBody,
  refusedMoves: [],
  clientMoves: { right: 'write' },
  describe: {
    create:
      'For an item handed in at a counter, a service desk or a partner. Counts toward the monthly allowance. Send an `Idempotency-Key` and a retry after a lost response creates nothing twice.',
    related: 'List earlier repairs of the item and returns of the customer',
  },
  actions: offlineRepairs,
};

const tradeMove = (
  action: TradeReturnAction,
  operationId: string,
  summary: string,
  more = '',
): MoveTexts => ({
  operationId,
  summary,
  description: `Moves the return to \`${TRADE_RETURN_MOVES[action].to}\`. Allowed from ${TRADE_RETURN_MOVES[action].from.join(' and ')}; from another status a 409 names the allowed moves.${more}`,
});

const COUNTING = ` With \`lines\` it counts what arrived, line by line, and may be called again, in ${TRADE_RETURN_RECEIPT.from.join(' and ')}: the status stays until every line is fully received or \`complete\` says so.`;
const CREDITING = ' The credit is the sum of price × accepted, unless `creditAmount` replaces it.';

const TRADE_MOVES: Record<TradeReturnAction, MoveTexts> = {
  approve: tradeMove('approve', 'approveTradeReturn', 'Approve a trade return'),
  reject: tradeMove('reject', 'rejectTradeReturn', 'Reject a trade return'),
  receive: tradeMove('receive', 'receiveTradeReturn', 'Receive the goods of a trade return', COUNTING),
  'request-credit': tradeMove(
    'request-credit',
    'requestTradeReturnCredit',
    'Request the credit of a trade return',
    CREDITING,
  ),
  resolve: tradeMove('resolve', 'resolveTradeReturn', 'Resolve a trade return'),
};

const TRADE_RETURNS: KindApi = {
  tag: 'Trade returns',
  names: { id: 'TradeReturn', one: 'a trade return', many: 'trade returns', short: 'trade return' },
  create: CreateTradeReturn,
  correct: CorrectTradeReturn,
  clients: { query: TradeReturnQuery, item: TradeReturn, list: TradeReturnList },
  staff: { query: AdminTradeReturnQuery, item: AdminTradeReturn, list: AdminTradeReturnList },
  moves: TRADE_MOVES,
  moveBodies: TradeReturnMoveBody,
  refusedMoves: ['MOVE_NOT_ALLOWED', 'EDIT_CONFLICT'],
  clientMoves: { right: 'move-trade-returns', query: MoveQuery },
  describe: {
    create:
      "A business-to-business return against a trade order. Counts toward the monthly allowance. The shop's staff move it from here, or a client with the right to; webhooks tell you.",
    related: 'List earlier returns of the company or customer',
  },
  actions: tradeReturns,
};

const headers = z.object({ 'Idempotency-Key': IdempotencyKey });

type Register = ReturnType<typeof routesOf>;

const dryRunRoute = (route: Register, ctx: ReturnServices, { names, create, actions }: KindApi): void =>
  route({
    at: `POST /${actions.path}/dry-run`,
    operationId: `dryRun${names.id}`,
    limit: 'create',
    summary: `Validate ${names.one} (dry run)`,
    description: `Checks the body as if it were sent to \`POST /${actions.path}\`, the allowance and the rate limit included, and writes nothing: no RMA, no number, no event. An \`Idempotency-Key\` is looked up as in the real call, and not stored.`,
    headers,
    body: create,
    response: [`The ${names.short} would have been created.`, DryRun],
    errors: ['IDEMPOTENCY_KEY_REUSED'],
    handle: (request) => actions.dryRun(ctx, request.caller, request.body, idempotencyKeyOf(request)),
  });

const commonRoutes = (
  route: Register,
  ctx: ReturnServices,
  kind: KindApi,
  { query, item, list }: Audience,
) => {
  const { names, create, clients, describe, actions } = kind;
  const { path, table } = actions;
  route({
    at: `POST /${path}`,
    operationId: `create${names.id}`,
    limit: 'create',
    hints: { dryRun: `to try it out, send the body to POST /${path}/dry-run` },
    summary: `Create ${names.one}`,
    description: describe.create,
    headers,
    body: create,
    response: [
      `The ${names.short}, created (or, with \`Idempotency-Replayed: true\`, created before).`,
      clients.item,
    ],
    status: 201,
    errors: ['IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED'],
    handle: (request, reply) =>
      sendCreated(reply, actions.create(ctx, request.caller, request.body, idempotencyKeyOf(request))),
  });
  route({
    at: `GET /${path}`,
    operationId: `list${names.id}s`,
    summary: `List ${names.many}`,
    description: `All ${names.short}s that API clients of the shop created, newest first. Filters combine.`,
    query,
    response: [`A page of ${names.short}s.`, list],
    handle: (request, reply) => sendPage(reply, actions.list(ctx, request.caller, request.query)),
  });
  route({
    at: `GET /${path}/:id`,
    operationId: `get${names.id}`,
    prefetch: (params) => prefetchRow(ctx, table, (params as { id: string }).id),
    summary: `Read ${names.one}`,
    description: `The whole ${names.short} as it stands now, by its \`id\`. With an \`rmaNumber\`, ask the list.`,
    response: [`The ${names.short} as it stands now.`, item],
    errors: ['NOT_FOUND'],
    handle: ({ caller, params, prefetched }) =>
      actions.get(ctx, caller, params.id, prefetched as PrefetchedRow),
  });
  route({
    at: `GET /${path}/:id/timeline`,
    operationId: `get${names.id}Timeline`,
    summary: `Read a ${names.short}'s timeline`,
    description: `Everything that happened to the ${names.short}, oldest first: who did what, when, and what they noted.`,
    query: TimelineQuery,
    response: ['A page of the timeline.', Timeline],
    errors: ['NOT_FOUND'],
    handle: ({ caller, params, query }, reply) =>
      sendPage(reply, readTimeline(ctx, table, caller, params.id, query)),
  });
};

const moveRoutes = (
  route: Register,
  ctx: ReturnServices,
  kind: KindApi,
  { item }: Audience,
  { query, ...config }: { right?: Right; query?: typeof MoveQuery },
): void => {
  const { names, moves, moveBodies, actions } = kind;
  for (const [action, texts] of Object.entries(moves) as [Action, MoveTexts][])
    route({
      ...texts,
      ...config,
      at: `POST /${actions.path}/:id/${action}`,
      query,
      body: moveBodies[action] as z.ZodType<object>,
      response: [`The whole ${names.short}, as it stands after this.`, item],
      errors: ['NOT_FOUND', 'ERASED', ...kind.refusedMoves],
      handle: ({ caller, params, body, query: { seen } }) =>
        actions.move(ctx, caller, params.id, action, body, seen),
    });
};

const staffRoutes = (route: Register, ctx: ReturnServices, kind: KindApi, { item }: Audience): void => {
  const { names, correct, describe, actions } = kind;
  const { path, table } = actions;
  const response = [`The whole ${names.short}, as it stands after this.`, item] as const;
  const changed = { response, errors: ['NOT_FOUND', 'ERASED', 'EDIT_CONFLICT'] as const };
  route({
    ...changed,
    at: `POST /${path}/:id/notes`,
    operationId: `note${names.id}`,
    summary: 'Add a note',
    description: 'Kept in the timeline. Sends no webhook.',
    body: AddNote,
    handle: ({ caller, params, body }) => actions.change(ctx, caller, { ...params, type: 'note', ...body }),
  });
  route({
    ...changed,
    at: `POST /${path}/:id/assign`,
    operationId: `assign${names.id}`,
    summary: 'Assign to a person of the team',
    description: 'The status stays as it is. API clients that follow changes get an `updated` event.',
    body: Assign,
    handle: ({ caller, params, body }) => actions.assign(ctx, caller, params.id, body.assigneeId),
  });
  route({
    ...changed,
    at: `PUT /${path}/:id/waiting-for`,
    operationId: `setWaitingOf${names.id}`,
    summary: 'Say what the work waits for',
    description:
      'Until it is removed or the status changes; meanwhile the target days stand still. API clients that follow changes get an `updated` event.',
    query: MoveQuery,
    body: SetWaitingFor,
    handle: ({ caller, params, body, query: { seen } }) =>
      actions.change(ctx, caller, { ...params, type: 'wait', waiting: body, seen }),
  });
  route({
    ...changed,
    at: `DELETE /${path}/:id/waiting-for`,
    operationId: `clearWaitingOf${names.id}`,
    summary: 'Say that the work goes on',
    description:
      'The target days count on from where they stood. API clients that follow changes get an `updated` event.',
    query: MoveQuery,
    handle: ({ caller, params, query: { seen } }) =>
      actions.change(ctx, caller, { ...params, type: 'wait', waiting: null, seen }),
  });
  route({
    ...changed,
    at: `POST /${path}/:id/correct`,
    operationId: `correct${names.id}`,
    summary: 'Correct a typing error',
    description:
      'Kept in the timeline with the old and the new value. API clients that follow changes get an `updated` event.',
    body: correct,
    handle: ({ caller, params, body: { seen, ...fields } }) =>
      actions.change(ctx, caller, { ...params, type: 'correct', fields, seen }),
  });
  route({
    at: `GET /${path}/:id/related`,
    operationId: `getRelatedTo${names.id}`,
    summary: describe.related,
    response: ['The earlier returns.', RelatedReturns],
    handle: ({ caller, params }) => findRelated(ctx, table, caller, params.id),
  });
};

export const returnRoutes = (app: FastifyInstance, ctx: ReturnServices): void => {
  for (const kind of [OFFLINE_REPAIRS, TRADE_RETURNS]) {
    const route = routesOf(app, { tag: kind.tag, right: 'write' });
    dryRunRoute(route, ctx, kind);
    commonRoutes(route, ctx, kind, kind.clients);
    moveRoutes(route, ctx, kind, kind.clients, kind.clientMoves);
  }
};

export const returnAdminRoutes = (app: FastifyInstance, ctx: ReturnServices): void => {
  for (const kind of [OFFLINE_REPAIRS, TRADE_RETURNS]) {
    const route = routesOf(app, { tag: kind.tag });
    commonRoutes(route, ctx, kind, kind.staff);
    moveRoutes(route, ctx, kind, kind.staff, { query: MoveQuery });
    staffRoutes(route, ctx, kind, kind.staff);
  }
  const route = routesOf(app, { tag: OFFLINE_REPAIRS.tag });
  route({
    at: 'GET /stores',
    operationId: 'listStores',
    summary: 'List the stores of repairs',
    response: ['The stores.', StoreList],
    handle: ({ caller }) => listStores(ctx, caller.shop.id),
  });
  route({
    at: 'GET /faults',
    operationId: 'listFaults',
    summary: 'List the frequent faults of a sku',
    query: FaultQuery,
    response: ['The faults.', FaultList],
    handle: ({ caller, query }) => frequentFaults(ctx, caller, query.sku),
  });
  routesOf(app, { tag: 'Overview' })({
    at: 'GET /search',
    operationId: 'searchReturns',
    summary: 'Find a return of either kind',
    query: SearchQuery,
    response: ['What was found.', SearchResult],
    handle: ({ caller, query }) => searchReturns(ctx, caller, query.q),
  });
};
