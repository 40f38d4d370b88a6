import { Overview, OverviewQuery } from '../../contract/admin.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals } from '../http/openapi/route-schemas.ts';
import { overviewOf } from './figures.ts';

export const overviewRoutes = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/overview',
    {
      schema: {
        operationId: 'getOverview',
        summary: "The shop's figures",
        tags: ['Overview'],
        querystring: OverviewQuery,
        response: { 200: answer('The figures as they are now.', Overview), ...refusals(400, 401) },
      },
    },
    ({ caller, user, query }) =>
      overviewOf(ctx, caller, { timeZone: query.timeZone, isAdmin: user.role === 'ADMIN' }),
  );
};
