import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ChangeSavedView, CreateSavedView, SavedView, SavedViewList } from '../../contract/admin-work.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, nothing, refusals } from '../http/openapi/route-schemas.ts';
import { changeView, createView, deleteView, listViews, type Viewer } from './actions.ts';

const tags = ['Saved views'];
const params = z.object({ id: z.string() });
const WRITE = refusals(400, 401, 403, 404, 409, 413, 415, 503);

const viewerOf = ({ user, caller }: Pick<FastifyRequest, 'user' | 'caller'>): Viewer => ({
  id: user.id,
  role: user.role,
  shopId: caller.shop.id,
});

const listAndCreate = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/views',
    {
      schema: {
        operationId: 'listSavedViews',
        summary: 'List saved views',
        description: "The person's own, and those that are shared, oldest first.",
        tags,
        response: { 200: answer('The views.', SavedViewList), ...refusals(400, 401, 503) },
      },
    },
    async (request) => ({ items: await listViews(ctx, viewerOf(request)) }),
  );

  app.post(
    '/views',
    {
      schema: {
        operationId: 'createSavedView',
        summary: 'Save a view',
        description: 'At most 50 of each person, and 50 that are shared. Only Admins share.',
        tags,
        body: CreateSavedView,
        response: {
          201: answer('The view.', SavedView),
          ...refusals(400, 401, 403, 409, 413, 415, 503),
        },
      },
    },
    async (request, reply) => reply.code(201).send(await createView(ctx, viewerOf(request), request.body)),
  );
};

const changeAndDelete = (app: ApiApp, ctx: Context): void => {
  app.patch(
    '/views/:id',
    {
      schema: {
        operationId: 'changeSavedView',
        summary: "Change a view's name, filters or whether it is shared",
        tags,
        params,
        body: ChangeSavedView,
        response: { 200: answer('The view as it is now.', SavedView), ...WRITE },
      },
    },
    (request) => changeView(ctx, viewerOf(request), request.params.id, request.body),
  );

  app.delete(
    '/views/:id',
    {
      schema: {
        operationId: 'deleteSavedView',
        summary: 'Delete a view',
        tags,
        params,
        response: { 204: nothing('Deleted.'), ...WRITE },
      },
    },
    async (request, reply) => {
      await deleteView(ctx, viewerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};

export const savedViewRoutes = (app: ApiApp, ctx: Context): void => {
  listAndCreate(app, ctx);
  changeAndDelete(app, ctx);
};
