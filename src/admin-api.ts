import cookie from '@fastify/cookie';
import type { FastifyInstance } from 'fastify';
import { apiClientRoutes } from './api-clients/admin-routes.ts';
import { auditRoutes } from './audit/routes.ts';
import type { Context } from './context.ts';
import { ServiceError } from './errors.ts';
import { raiseAdminGates } from './http/admin-gates.ts';
import { refusingOtherMethods } from './http/method-not-allowed.ts';
import { serveDocument } from './http/openapi/document.ts';
import type { ApiApp } from './http/openapi/route-schemas.ts';
import type { PageLimit } from './http/rate-limit.ts';
import { offlineRepairAdminRoutes } from './offline-repairs/routes.ts';
import { overviewRoutes } from './overview/admin-routes.ts';
import { dangerousGoodsRoutes } from './shops/admin-routes.ts';
import { staffRoutes } from './staff/routes.ts';
import { tradeReturnAdminRoutes } from './trade-returns/routes.ts';

const ROUTES: ((app: ApiApp, ctx: Context) => void)[] = [
  staffRoutes,
  offlineRepairAdminRoutes,
  tradeReturnAdminRoutes,
  overviewRoutes,
  apiClientRoutes,
  dangerousGoodsRoutes,
  auditRoutes,
];

/** The admin app's own API: every route of it, behind its gates. */
export const adminApi =
  (ctx: Context, limitPages: PageLimit) =>
  async (app: FastifyInstance): Promise<void> => {
    app.setNotFoundHandler(() => {
      throw new ServiceError('NO_ROUTE');
    });
    await app.register(cookie);
    raiseAdminGates(app, ctx, limitPages);
    refusingOtherMethods(app, () => {
      for (const routes of ROUTES) routes(app as ApiApp, ctx);
      serveDocument(app, () => app.adminSwagger(), [limitPages]);
    });
  };
