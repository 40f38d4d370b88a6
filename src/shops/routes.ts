import { Usage } from '../../contract/usage.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals } from '../http/openapi/route-schemas.ts';
import { readUsage } from './allowance.ts';

export const usageRoutes = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/usage',
    {
      schema: {
        operationId: 'getUsage',
        summary: "Read the month's use",
        description:
          'How many RMAs the shop has created this month, and how many more it may. Whoever is about to create many asks here first.',
        tags: ['Usage'],
        response: {
          200: answer('As it stands now.', Usage),
          ...refusals(400, 401, 403, 429, 503),
        },
      },
    },
    (request) => readUsage(ctx, request.caller.shop),
  );
};
