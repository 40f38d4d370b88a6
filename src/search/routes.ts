import type { FastifyInstance } from 'fastify';
import { SearchQuery, SearchResult } from '../../contract/admin-search.ts';
import { routesOf } from '../http/route.ts';
import type { Context } from '../service/context.ts';
import { searchReturns } from './actions.ts';

export const searchRoutes = (app: FastifyInstance, ctx: Context): void =>
  routesOf(app, { tag: 'Overview' })({
    at: 'GET /search',
    operationId: 'searchReturns',
    summary: 'Find a return of either kind',
    query: SearchQuery,
    answer: ['What was found.', SearchResult],
    handle: ({ caller, query }) => searchReturns(ctx, caller, query.q),
  });
