import { z } from 'zod';
import { AdminOfflineRepairQuery } from '../../contract/admin.ts';
import {
  AdminOfflineRepair,
  AdminOfflineRepairList,
  MoveQuery,
  StoreList,
} from '../../contract/admin-returns.ts';
import { IdempotencyKey, Timeline, TimelineQuery } from '../../contract/common.ts';
import {
  CreateOfflineRepair,
  OfflineRepair,
  OfflineRepairList,
  OfflineRepairQuery,
} from '../../contract/offline-repair.ts';
import { DryRun } from '../../contract/usage.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals } from '../http/openapi/route-schemas.ts';
import { idempotencyKeyOf, sendCreated, sendPage } from '../http/replies.ts';
import { type Ahead, readAhead } from '../rma/store.ts';
import {
  createOfflineRepair,
  getOfflineRepair,
  getOfflineRepairTimeline,
  listOfflineRepairs,
  tryOfflineRepair,
} from './actions.ts';
import { assignRoute, moveRoutes, noteRoute } from './move-routes.ts';
import { staffRoutes } from './staff-routes.ts';
import { listStores } from './stores.ts';

const tags = ['Offline repairs'];
const params = z.object({ id: z.string() });
const headers = z.object({ 'Idempotency-Key': IdempotencyKey });
const READ = refusals(400, 401, 403, 404, 429, 503);

const create = (app: ApiApp, ctx: Context): void => {
  app.post(
    '/offline-repairs',
    {
      config: {
        limit: 'create',
        hints: { dryRun: 'to try it out, send the body to POST /offline-repairs/dry-run' },
      },
      schema: {
        operationId: 'createOfflineRepair',
        summary: 'Create an offline repair',
        description:
          'For an item handed in at a counter, a service desk or a partner. Counts toward the monthly allowance. Send an `Idempotency-Key` and a retry after a lost answer creates nothing twice.',
        tags,
        headers,
        body: CreateOfflineRepair,
        response: {
          201: answer(
            'The repair, created (or, with `Idempotency-Replayed: true`, created before).',
            OfflineRepair,
          ),
          ...refusals(400, 401, 403, 409, 413, 415, 422, 429, 503),
        },
      },
    },
    (request, reply) =>
      sendCreated(reply, createOfflineRepair(ctx, request.caller, request.body, idempotencyKeyOf(request))),
  );
};

const dryRun = (app: ApiApp, ctx: Context): void => {
  app.post(
    '/offline-repairs/dry-run',
    {
      config: { limit: 'create' },
      schema: {
        operationId: 'dryRunOfflineRepair',
        summary: 'Try out an offline repair',
        description:
          'Checks the body as if it were sent to `POST /offline-repairs`, the allowance and the rate limit included, and writes nothing: no RMA, no number, no event, no `Idempotency-Key`.',
        tags,
        headers,
        body: CreateOfflineRepair,
        response: {
          200: answer('The repair would have been created.', DryRun),
          ...refusals(400, 401, 403, 409, 413, 415, 422, 429, 503),
        },
      },
    },
    (request) => tryOfflineRepair(ctx, request.caller, request.body, idempotencyKeyOf(request)),
  );
};

/** What programs, or the staff, may ask for and are shown. */
const FOR_PROGRAMS = { query: OfflineRepairQuery, item: OfflineRepair, list: OfflineRepairList };
const FOR_STAFF = {
  query: AdminOfflineRepairQuery,
  item: AdminOfflineRepair,
  list: AdminOfflineRepairList,
  StoreList,
};
type Readers = typeof FOR_PROGRAMS | typeof FOR_STAFF;

const list = (app: ApiApp, ctx: Context, readers: Readers): void => {
  app.get(
    '/offline-repairs',
    {
      schema: {
        operationId: 'listOfflineRepairs',
        summary: 'List offline repairs',
        description: 'All repairs that programs of the shop created, newest first. Filters combine.',
        tags,
        querystring: readers.query,
        response: {
          200: answer('A page of repairs.', readers.list),
          ...refusals(400, 401, 403, 429, 503),
        },
      },
    },
    (request, reply) => sendPage(reply, listOfflineRepairs(ctx, request.caller, request.query)),
  );
};

const read = (app: ApiApp, ctx: Context, readers: Readers): void => {
  app.get(
    '/offline-repairs/:id',
    {
      config: { readAhead: (of) => readAhead(ctx, 'offline_repairs', params.parse(of).id) },
      schema: {
        operationId: 'getOfflineRepair',
        summary: 'Read an offline repair',
        description: 'The whole repair as it stands now, by its `id`. With an `rmaNumber`, ask the list.',
        tags,
        params,
        response: { 200: answer('The repair as it stands now.', readers.item), ...READ },
      },
    },
    (request) =>
      getOfflineRepair(
        ctx,
        request.caller,
        request.params.id,
        request.ahead as Ahead<'offline_repairs'> | undefined,
      ),
  );
};

const timeline = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/offline-repairs/:id/timeline',
    {
      schema: {
        operationId: 'getOfflineRepairTimeline',
        summary: "Read a repair's timeline",
        description:
          'Everything that happened to the repair, oldest first: who did what, when, and what they noted.',
        tags,
        params,
        querystring: TimelineQuery,
        response: { 200: answer('A page of the timeline.', Timeline), ...READ },
      },
    },
    (request, reply) =>
      sendPage(reply, getOfflineRepairTimeline(ctx, request.caller, request.params.id, request.query)),
  );
};

const stores = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/stores',
    {
      schema: {
        operationId: 'listStores',
        summary: 'List the stores of repairs',
        tags,
        response: { 200: answer('The stores.', StoreList), ...refusals(400, 401, 503) },
      },
    },
    (request) => listStores(ctx, request.caller.shop.id),
  );
};

/** Programs and staff get the same routes; only the filters of the list, and what staff see and say beyond, differ. */
const routes = (app: ApiApp, ctx: Context, readers: Readers): void => {
  create(app, ctx);
  list(app, ctx, readers);
  read(app, ctx, readers);
  timeline(app, ctx);
};

export const offlineRepairRoutes = (app: ApiApp, ctx: Context): void => {
  dryRun(app, ctx);
  routes(app, ctx, FOR_PROGRAMS);
  moveRoutes(app, ctx, FOR_PROGRAMS.item);
};

export const offlineRepairAdminRoutes = (app: ApiApp, ctx: Context): void => {
  routes(app, ctx, FOR_STAFF);
  moveRoutes(app, ctx, FOR_STAFF.item, MoveQuery);
  noteRoute(app, ctx);
  assignRoute(app, ctx);
  staffRoutes(app, ctx);
  stores(app, ctx);
};
