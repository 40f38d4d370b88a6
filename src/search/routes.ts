import { SearchQuery, SearchResult } from '../../contract/admin-search.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals } from '../http/openapi/route-schemas.ts';
import { searchReturns } from './actions.ts';

export const searchRoutes = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/search',
    {
      schema: {
        operationId: 'searchReturns',
        summary: 'Find a return of either kind',
        tags: ['Overview'],
        querystring: SearchQuery,
        response: { 200: answer('What was found.', SearchResult), ...refusals(400, 401) },
      },
    },
    (request) => searchReturns(ctx, request.caller, request.query.q),
  );
};
