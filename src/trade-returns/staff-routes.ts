import { z } from 'zod';
import { AdminTradeReturn, CorrectTradeReturn, RelatedReturns } from '../../contract/admin-returns.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals, stale } from '../http/openapi/route-schemas.ts';
import { correctTradeReturn, relatedToTradeReturn } from './actions.ts';

const tags = ['Trade returns'];
const params = z.object({ id: z.string() });

/** What only the shop's staff do with a trade return. */
export const staffRoutes = (app: ApiApp, ctx: Context): void => {
  app.post(
    '/trade-returns/:id/correct',
    {
      schema: {
        operationId: 'correctTradeReturn',
        summary: 'Correct a typing error',
        description: 'Kept in the timeline with the old and the new value; tells nobody outside.',
        tags,
        params,
        body: CorrectTradeReturn,
        response: {
          200: answer('The whole trade return, as it stands after this.', AdminTradeReturn),
          ...refusals(400, 401, 403, 404, 413, 415, 503),
          ...stale,
        },
      },
    },
    ({ caller, params: { id }, body }) => correctTradeReturn(ctx, caller, id, body),
  );
  app.get(
    '/trade-returns/:id/related',
    {
      schema: {
        operationId: 'getRelatedToTradeReturn',
        summary: 'Earlier returns of the company or customer',
        tags,
        params,
        response: {
          200: answer('What came before.', RelatedReturns),
          ...refusals(400, 401, 403, 404, 503),
        },
      },
    },
    ({ caller, params: { id } }) => relatedToTradeReturn(ctx, caller, id),
  );
};
