import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Context } from '../context.ts';
import { eventRoutes } from '../events/routes.ts';
import { noRoute } from '../http/errors.ts';
import { refuseOtherMethods } from '../http/method-not-allowed.ts';
import { serveDocument } from '../http/openapi/document.ts';
import { offlineRepairRoutes } from '../offline-repairs/routes.ts';
import { usageRoutes } from '../shops/routes.ts';
import { tradeReturnRoutes } from '../trade-returns/routes.ts';
import { deliveryRoutes } from '../webhooks/routes.ts';
import { addExternalGates } from './external-gates.ts';

const ROUTES = [offlineRepairRoutes, tradeReturnRoutes, usageRoutes, eventRoutes, deliveryRoutes];

/** The API for a shop's own systems: its gates, then its routes. */
export const externalApi =
  (ctx: Context) =>
  async (app: FastifyInstance): Promise<void> => {
    const api = app.withTypeProvider<ZodTypeProvider>();
    app.setNotFoundHandler(noRoute);
    addExternalGates(app, ctx);
    refuseOtherMethods(app, () => {
      for (const routes of ROUTES) routes(api, ctx);
      serveDocument(app, () => app.swagger());
    });
  };
