import { z } from 'zod';
import { AddNote, AdminOfflineRepairQuery } from '../../contract/admin.ts';
import { IdempotencyKey, Timeline, TimelineQuery } from '../../contract/common.ts';
import { OFFLINE_REPAIR_MOVES, type OfflineRepairAction } from '../../contract/lifecycle.ts';
import {
  CreateOfflineRepair,
  OfflineRepair,
  OfflineRepairActionBody,
  OfflineRepairList,
  OfflineRepairQuery,
} from '../../contract/offline-repair.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals } from '../http/openapi/route-schemas.ts';
import { sendCreated, sendPage } from '../http/replies.ts';
import { type Ahead, readAhead } from '../rma/store.ts';
import {
  createOfflineRepair,
  getOfflineRepair,
  getOfflineRepairTimeline,
  listOfflineRepairs,
  moveOfflineRepair,
  noteOfflineRepair,
} from './actions.ts';

const tags = ['Offline repairs'];
const params = z.object({ id: z.string() });
const READ = refusals(400, 401, 403, 404, 429, 503);
const WRITE = refusals(400, 401, 403, 404, 413, 415, 429, 503);

/** The same for programs and for staff, but for what a list may be narrowed by. */
const routes = (
  app: ApiApp,
  ctx: Context,
  listQuery: typeof AdminOfflineRepairQuery | typeof OfflineRepairQuery,
): void => {
  app.post(
    '/offline-repairs',
    {
      config: { limit: 'create' },
      schema: {
        operationId: 'createOfflineRepair',
        summary: 'Create an offline repair',
        description:
          'For an item handed in at a counter, a service desk or a partner. Counts toward the monthly allowance. Send an `Idempotency-Key` and a retry after a lost answer creates nothing twice.',
        tags,
        headers: z.object({ 'Idempotency-Key': IdempotencyKey }),
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
      sendCreated(request, reply, (key) => createOfflineRepair(ctx, request.caller, request.body, key)),
  );

  app.get(
    '/offline-repairs',
    {
      schema: {
        operationId: 'listOfflineRepairs',
        summary: 'List offline repairs',
        description: 'All repairs that programs of the shop created, newest first. Filters combine.',
        tags,
        querystring: listQuery,
        response: {
          200: answer('A page of repairs.', OfflineRepairList),
          ...refusals(400, 401, 403, 429, 503),
        },
      },
    },
    (request, reply) => sendPage(reply, listOfflineRepairs(ctx, request.caller, request.query)),
  );

  app.get(
    '/offline-repairs/:id',
    {
      config: { readAhead: (of) => readAhead(ctx, 'offline_repairs', params.parse(of).id) },
      schema: {
        operationId: 'getOfflineRepair',
        summary: 'Read an offline repair',
        tags,
        params,
        response: { 200: answer('The repair as it stands now.', OfflineRepair), ...READ },
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

  for (const action of Object.keys(OFFLINE_REPAIR_MOVES) as OfflineRepairAction[]) {
    const { operationId, summary, description } = ACTIONS[action];
    app.post(
      `/offline-repairs/:id/${action}`,
      {
        schema: {
          operationId,
          summary,
          description,
          tags,
          params,
          body: OfflineRepairActionBody[action] as z.ZodType,
          response: { 200: answer('The whole repair, as it stands after this.', OfflineRepair), ...WRITE },
        },
      },
      (request) => moveOfflineRepair(ctx, request.caller, request.params.id, action, request.body as never),
    );
  }
};

export const offlineRepairRoutes = (app: ApiApp, ctx: Context): void => routes(app, ctx, OfflineRepairQuery);

export const offlineRepairAdminRoutes = (app: ApiApp, ctx: Context): void => {
  routes(app, ctx, AdminOfflineRepairQuery);
  app.post(
    '/offline-repairs/:id/notes',
    {
      schema: {
        operationId: 'noteOfflineRepair',
        summary: 'Add a note',
        description: 'Kept in the timeline; tells nobody outside.',
        tags,
        params,
        body: AddNote,
        response: { 200: answer('The whole repair.', OfflineRepair), ...WRITE },
      },
    },
    (request) => noteOfflineRepair(ctx, request.caller, request.params.id, request.body.note),
  );
};

/** How the reference tells of each action. */
const ACTIONS: Record<OfflineRepairAction, { operationId: string; summary: string; description: string }> = {
  tracking: {
    operationId: 'uploadOfflineRepairTracking',
    summary: 'Lodge return tracking',
    description: 'Sets tracking number and carrier, in place of earlier ones. The status stays as it is.',
  },
  'begin-diagnostics': {
    operationId: 'beginOfflineRepairDiagnostics',
    summary: 'Begin diagnostics',
    description: 'Moves the repair to `OFFLINE_DIAGNOSTICS`, from any status.',
  },
  'begin-repair': {
    operationId: 'beginOfflineRepair',
    summary: 'Begin the repair',
    description:
      'Moves the repair to `OFFLINE_REPAIR`, from any status. A technician or notes given before stay where this call names none.',
  },
  resolve: {
    operationId: 'resolveOfflineRepair',
    summary: 'Set the disposition',
    description:
      'Moves the repair to `OFFLINE_RESOLVED`, from any status, and sets what becomes of the item.',
  },
  close: {
    operationId: 'closeOfflineRepair',
    summary: 'Close the repair',
    description: 'Moves the repair to `OFFLINE_CLOSED`, from any status. Needs no body.',
  },
};
