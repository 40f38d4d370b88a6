import type { FastifyInstance } from 'fastify';
import { Overview, OverviewQuery } from '../../contract/admin.ts';
import { routesOf } from '../http/route.ts';
import type { Core } from '../platform/core.ts';
import { overviewOf } from './figures.ts';

export const overviewRoutes = (app: FastifyInstance, ctx: Core): void =>
  routesOf(app, { tag: 'Overview' })({
    at: 'GET /overview',
    operationId: 'getOverview',
    summary: "Read the shop's figures",
    query: OverviewQuery,
    response: ['The figures as they are now.', Overview],
    handle: ({ caller, user, query }) => overviewOf(ctx, caller, query.timeZone, user.role === 'ADMIN'),
  });
