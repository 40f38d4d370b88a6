import { z } from 'zod';
import { AdminTradeReturnQuery } from '../../contract/admin.ts';
import { AdminTradeReturn, AdminTradeReturnList } from '../../contract/admin-returns.ts';
import { IdempotencyKey, Timeline, TimelineQuery } from '../../contract/common.ts';
import {
  CreateTradeReturn,
  TradeReturn,
  TradeReturnList,
  TradeReturnQuery,
} from '../../contract/trade-return.ts';
import { DryRun } from '../../contract/usage.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals } from '../http/openapi/route-schemas.ts';
import { idempotencyKeyOf, sendCreated, sendPage } from '../http/replies.ts';
import { type Ahead, readAhead } from '../rma/store.ts';
import {
  createTradeReturn,
  getTradeReturn,
  getTradeReturnTimeline,
  listTradeReturns,
  tryTradeReturn,
} from './actions.ts';
import { assignRoute, moveRoutes, noteRoute } from './move-routes.ts';
import { staffRoutes } from './staff-routes.ts';

const tags = ['Trade returns'];
const params = z.object({ id: z.string() });
const headers = z.object({ 'Idempotency-Key': IdempotencyKey });
const READ = refusals(400, 401, 403, 404, 429, 503);

const create = (app: ApiApp, ctx: Context): void => {
  app.post(
    '/trade-returns',
    {
      config: {
        limit: 'create',
        hints: { dryRun: 'to try it out, send the body to POST /trade-returns/dry-run' },
      },
      schema: {
        operationId: 'createTradeReturn',
        summary: 'Create a trade return',
        description:
          "A business-to-business return against a trade order. Counts toward the monthly allowance. The shop's staff move it from here; webhooks tell you.",
        tags,
        headers,
        body: CreateTradeReturn,
        response: {
          201: answer(
            'The trade return, created (or, with `Idempotency-Replayed: true`, created before).',
            TradeReturn,
          ),
          ...refusals(400, 401, 403, 409, 413, 415, 422, 429, 503),
        },
      },
    },
    (request, reply) =>
      sendCreated(reply, createTradeReturn(ctx, request.caller, request.body, idempotencyKeyOf(request))),
  );
};

const dryRun = (app: ApiApp, ctx: Context): void => {
  app.post(
    '/trade-returns/dry-run',
    {
      config: { limit: 'create' },
      schema: {
        operationId: 'dryRunTradeReturn',
        summary: 'Try out a trade return',
        description:
          'Checks the body as if it were sent to `POST /trade-returns`, the allowance and the rate limit included, and writes nothing: no RMA, no number, no event, no `Idempotency-Key`.',
        tags,
        headers,
        body: CreateTradeReturn,
        response: {
          200: answer('The trade return would have been created.', DryRun),
          ...refusals(400, 401, 403, 409, 413, 415, 422, 429, 503),
        },
      },
    },
    (request) => tryTradeReturn(ctx, request.caller, request.body, idempotencyKeyOf(request)),
  );
};

/** What programs, or the staff, may ask for and are shown. */
const FOR_PROGRAMS = { query: TradeReturnQuery, item: TradeReturn, list: TradeReturnList };
const FOR_STAFF = { query: AdminTradeReturnQuery, item: AdminTradeReturn, list: AdminTradeReturnList };
type Readers = typeof FOR_PROGRAMS | typeof FOR_STAFF;

const list = (app: ApiApp, ctx: Context, readers: Readers): void => {
  app.get(
    '/trade-returns',
    {
      schema: {
        operationId: 'listTradeReturns',
        summary: 'List trade returns',
        description: 'All trade returns that programs of the shop created, newest first. Filters combine.',
        tags,
        querystring: readers.query,
        response: {
          200: answer('A page of trade returns.', readers.list),
          ...refusals(400, 401, 403, 429, 503),
        },
      },
    },
    (request, reply) => sendPage(reply, listTradeReturns(ctx, request.caller, request.query)),
  );
};

const read = (app: ApiApp, ctx: Context, readers: Readers): void => {
  app.get(
    '/trade-returns/:id',
    {
      config: { readAhead: (of) => readAhead(ctx, 'trade_returns', params.parse(of).id) },
      schema: {
        operationId: 'getTradeReturn',
        summary: 'Read a trade return',
        description:
          'The whole trade return as it stands now, by its `id`. With an `rmaNumber`, ask the list.',
        tags,
        params,
        response: { 200: answer('The trade return as it stands now.', readers.item), ...READ },
      },
    },
    (request) =>
      getTradeReturn(
        ctx,
        request.caller,
        request.params.id,
        request.ahead as Ahead<'trade_returns'> | undefined,
      ),
  );
};

const timeline = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/trade-returns/:id/timeline',
    {
      schema: {
        operationId: 'getTradeReturnTimeline',
        summary: "Read a trade return's timeline",
        description: 'Everything that happened to the trade return, oldest first.',
        tags,
        params,
        querystring: TimelineQuery,
        response: { 200: answer('A page of the timeline.', Timeline), ...READ },
      },
    },
    (request, reply) =>
      sendPage(reply, getTradeReturnTimeline(ctx, request.caller, request.params.id, request.query)),
  );
};

/** Programs and staff get the same routes; only the filters of the list, and what staff see beyond, differ. */
const routes = (app: ApiApp, ctx: Context, readers: Readers): void => {
  create(app, ctx);
  list(app, ctx, readers);
  read(app, ctx, readers);
  timeline(app, ctx);
};

export const tradeReturnRoutes = (app: ApiApp, ctx: Context): void => {
  dryRun(app, ctx);
  routes(app, ctx, FOR_PROGRAMS);
};

export const tradeReturnAdminRoutes = (app: ApiApp, ctx: Context): void => {
  routes(app, ctx, FOR_STAFF);
  noteRoute(app, ctx);
  assignRoute(app, ctx);
  moveRoutes(app, ctx);
  staffRoutes(app, ctx);
};
