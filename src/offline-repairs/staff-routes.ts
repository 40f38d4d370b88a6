import { z } from 'zod';
import { AdminOfflineRepair, CorrectOfflineRepair, RelatedReturns } from '../../contract/admin-returns.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals, stale } from '../http/openapi/route-schemas.ts';
import { correctOfflineRepair, relatedToOfflineRepair } from './actions.ts';

const tags = ['Offline repairs'];
const params = z.object({ id: z.string() });

/** What only the shop's staff do with a repair. */
export const staffRoutes = (app: ApiApp, ctx: Context): void => {
  app.post(
    '/offline-repairs/:id/correct',
    {
      schema: {
        operationId: 'correctOfflineRepair',
        summary: 'Correct a typing error',
        description: 'Kept in the timeline with the old and the new value; tells nobody outside.',
        tags,
        params,
        body: CorrectOfflineRepair,
        response: {
          200: answer('The whole repair, as it stands after this.', AdminOfflineRepair),
          ...refusals(400, 401, 403, 404, 413, 415, 429, 503),
          ...stale,
        },
      },
    },
    ({ caller, params: { id }, body }) => correctOfflineRepair(ctx, caller, id, body),
  );
  app.get(
    '/offline-repairs/:id/related',
    {
      schema: {
        operationId: 'getRelatedToOfflineRepair',
        summary: 'Earlier repairs of the item and returns of the customer',
        tags,
        params,
        response: {
          200: answer('What came before.', RelatedReturns),
          ...refusals(400, 401, 403, 404, 429, 503),
        },
      },
    },
    ({ caller, params: { id } }) => relatedToOfflineRepair(ctx, caller, id),
  );
};
