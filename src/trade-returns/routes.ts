import { z } from 'zod';
import { AddNote, AdminTradeReturnQuery, TradeMove } from '../../contract/admin.ts';
import { IdempotencyKey, Timeline, TimelineQuery } from '../../contract/common.ts';
import { TRADE_RETURN_MOVES, type TradeReturnAction } from '../../contract/lifecycle.ts';
import {
  CreateTradeReturn,
  TradeReturn,
  TradeReturnList,
  TradeReturnQuery,
} from '../../contract/trade-return.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals } from '../http/openapi/route-schemas.ts';
import { sendCreated, sendPage } from '../http/replies.ts';
import { type Ahead, readAhead } from '../rma/store.ts';
import {
  createTradeReturn,
  getTradeReturn,
  getTradeReturnTimeline,
  listTradeReturns,
  moveTradeReturn,
  noteTradeReturn,
} from './actions.ts';

const tags = ['Trade returns'];
const params = z.object({ id: z.string() });
const READ = refusals(400, 401, 403, 404, 429, 503);

/** The same for programs and for staff, but for what a list may be narrowed by. */
const routes = (
  app: ApiApp,
  ctx: Context,
  listQuery: typeof AdminTradeReturnQuery | typeof TradeReturnQuery,
): void => {
  app.post(
    '/trade-returns',
    {
      config: { limit: 'create' },
      schema: {
        operationId: 'createTradeReturn',
        summary: 'Create a trade return',
        description:
          "A business-to-business return against a trade order. Counts toward the monthly allowance. The shop's staff move it from here; webhooks tell you.",
        tags,
        headers: z.object({ 'Idempotency-Key': IdempotencyKey }),
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
      sendCreated(request, reply, (key) => createTradeReturn(ctx, request.caller, request.body, key)),
  );

  app.get(
    '/trade-returns',
    {
      schema: {
        operationId: 'listTradeReturns',
        summary: 'List trade returns',
        description: 'All trade returns that programs of the shop created, newest first. Filters combine.',
        tags,
        querystring: listQuery,
        response: {
          200: answer('A page of trade returns.', TradeReturnList),
          ...refusals(400, 401, 403, 429, 503),
        },
      },
    },
    (request, reply) => sendPage(reply, listTradeReturns(ctx, request.caller, request.query)),
  );

  app.get(
    '/trade-returns/:id',
    {
      config: { readAhead: (of) => readAhead(ctx, 'trade_returns', params.parse(of).id) },
      schema: {
        operationId: 'getTradeReturn',
        summary: 'Read a trade return',
        tags,
        params,
        response: { 200: answer('The trade return as it stands now.', TradeReturn), ...READ },
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

export const tradeReturnRoutes = (app: ApiApp, ctx: Context): void => routes(app, ctx, TradeReturnQuery);

const WRITE = refusals(400, 401, 403, 404, 409, 413, 415, 503);

export const tradeReturnAdminRoutes = (app: ApiApp, ctx: Context): void => {
  routes(app, ctx, AdminTradeReturnQuery);
  app.post(
    '/trade-returns/:id/notes',
    {
      schema: {
        operationId: 'noteTradeReturn',
        summary: 'Add a note',
        description: 'Kept in the timeline; tells nobody outside.',
        tags,
        params,
        body: AddNote,
        response: { 200: answer('The whole trade return.', TradeReturn), ...WRITE },
      },
    },
    (request) => noteTradeReturn(ctx, request.caller, request.params.id, request.body.note),
  );
  for (const action of Object.keys(TRADE_RETURN_MOVES) as TradeReturnAction[]) {
    const { from, to } = TRADE_RETURN_MOVES[action];
    app.post(
      `/trade-returns/:id/${action}`,
      {
        schema: {
          operationId: OPERATION_IDS[action],
          summary: `Move to ${to}`,
          description: `Open from ${from.join(' and ')}; from elsewhere a 409 names what is open.`,
          tags,
          params,
          body: TradeMove,
          response: {
            200: answer('The whole trade return, as it stands after this.', TradeReturn),
            ...WRITE,
          },
        },
      },
      (request) => moveTradeReturn(ctx, request.caller, request.params.id, action, request.body.note),
    );
  }
};

const OPERATION_IDS: Record<TradeReturnAction, string> = {
  approve: 'approveTradeReturn',
  reject: 'rejectTradeReturn',
  receive: 'receiveTradeReturn',
  'request-credit': 'requestTradeReturnCredit',
  resolve: 'resolveTradeReturn',
};
