import { z } from 'zod';
import { IdempotencyKey, Timeline } from '../../contract/common.ts';
import {
  CreateTradeReturn,
  TradeReturn,
  TradeReturnList,
  TradeReturnQuery,
} from '../../contract/trade-return.ts';
import type { Context } from '../context.ts';
import { sendCreated } from '../http/created.ts';
import { answer, type ExternalApp, refusals } from '../http/openapi/route-schemas.ts';
import { createTradeReturn, getTradeReturn, getTradeReturnTimeline, listTradeReturns } from './actions.ts';

const tags = ['Trade returns'];
const params = z.object({ id: z.string() });
const READ = refusals(400, 401, 403, 404, 429, 503);

export const tradeReturnRoutes = (app: ExternalApp, ctx: Context): void => {
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
        querystring: TradeReturnQuery,
        response: {
          200: answer('A page of trade returns.', TradeReturnList),
          ...refusals(400, 401, 403, 429, 503),
        },
      },
    },
    (request) => listTradeReturns(ctx, request.caller, request.query),
  );

  app.get(
    '/trade-returns/:id',
    {
      schema: {
        operationId: 'getTradeReturn',
        summary: 'Read a trade return',
        tags,
        params,
        response: { 200: answer('The trade return as it stands now.', TradeReturn), ...READ },
      },
    },
    (request) => getTradeReturn(ctx, request.caller, request.params.id),
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
        response: { 200: answer('The timeline.', Timeline), ...READ },
      },
    },
    (request) => getTradeReturnTimeline(ctx, request.caller, request.params.id),
  );
};
