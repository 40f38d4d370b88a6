import type { FastifyInstance } from 'fastify';
import { ChangeSavedView, CreateSavedView, SavedView, SavedViewList } from '../../contract/admin-work.ts';
import { routesOf } from '../http/route.ts';
import type { Core } from '../platform/core.ts';
import { changeView, createView, deleteView, listViews } from './actions.ts';

export const savedViewRoutes = (app: FastifyInstance, ctx: Core): void => {
  const route = routesOf(app, { tag: 'Saved views' });
  route({
    at: 'GET /views',
    operationId: 'listSavedViews',
    summary: 'List saved views',
    description: "The person's own, and those that are shared, oldest first.",
    response: ['The views.', SavedViewList],
    handle: async (request) => ({ items: await listViews(ctx, request) }),
  });
  route({
    at: 'POST /views',
    operationId: 'createSavedView',
    summary: 'Save a view',
    description: 'At most 50 of each person, and 50 that are shared. Only Admins share.',
    body: CreateSavedView,
    response: ['The view.', SavedView],
    status: 201,
    errors: [409],
    handle: (request) => createView(ctx, request, request.body),
  });
  route({
    at: 'PATCH /views/:id',
    operationId: 'changeSavedView',
    summary: "Change a view's name, filters or whether it is shared",
    body: ChangeSavedView,
    response: ['The view as it is now.', SavedView],
    errors: [409],
    handle: (request) => changeView(ctx, request, request.params.id, request.body),
  });
  route({
    at: 'DELETE /views/:id',
    operationId: 'deleteSavedView',
    summary: 'Delete a view',
    response: ['Deleted.'],
    handle: (request) => deleteView(ctx, request, request.params.id),
  });
};
