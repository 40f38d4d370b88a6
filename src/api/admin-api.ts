import cookie from '@fastify/cookie';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { apiClientRoutes } from '../api-clients/admin-routes.ts';
import { auditRoutes } from '../audit/routes.ts';
import type { Context } from '../context.ts';
import { noRoute } from '../http/errors.ts';
import { refuseOtherMethods } from '../http/method-not-allowed.ts';
import { serveDocument } from '../http/openapi/document.ts';
import type { ApiApp } from '../http/openapi/route-schemas.ts';
import { offlineRepairAdminRoutes } from '../offline-repairs/routes.ts';
import { overviewRoutes } from '../overview/admin-routes.ts';
import { savedViewRoutes } from '../saved-views/admin-routes.ts';
import { searchRoutes } from '../search/routes.ts';
import { dangerousGoodsRoutes } from '../shops/admin-routes.ts';
import { shopSettingsRoutes } from '../shops/settings-routes.ts';
import { targetDaysRoutes } from '../shops/target-days-routes.ts';
import { secondFactorRoutes } from '../staff/factor-routes.ts';
import { linkRoutes } from '../staff/link-routes.ts';
import { ownAccountRoutes } from '../staff/own-account-routes.ts';
import { peopleRoutes } from '../staff/people-routes.ts';
import { sessionRoutes } from '../staff/session-routes.ts';
import { userRoutes } from '../staff/user-routes.ts';
import { tradeReturnAdminRoutes } from '../trade-returns/routes.ts';
import { addAdminGates } from './admin-gates.ts';
import type { PageLimit } from './rate-limits.ts';

const ROUTES: ((app: ApiApp, ctx: Context) => void)[] = [
  sessionRoutes,
  ownAccountRoutes,
  linkRoutes,
  secondFactorRoutes,
  userRoutes,
  offlineRepairAdminRoutes,
  tradeReturnAdminRoutes,
  overviewRoutes,
  peopleRoutes,
  savedViewRoutes,
  searchRoutes,
  apiClientRoutes,
  dangerousGoodsRoutes,
  targetDaysRoutes,
  shopSettingsRoutes,
  auditRoutes,
];

/** The API of the admin app: its gates, then its routes. */
export const adminApi =
  (ctx: Context, limitPages: PageLimit) =>
  async (app: FastifyInstance): Promise<void> => {
    const api = app.withTypeProvider<ZodTypeProvider>();
    app.setNotFoundHandler(noRoute);
    await app.register(cookie);
    addAdminGates(app, ctx, limitPages);
    refuseOtherMethods(app, () => {
      for (const routes of ROUTES) routes(api, ctx);
      serveDocument(app, () => app.adminSwagger(), [limitPages]);
    });
  };
