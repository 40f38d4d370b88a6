import { z } from 'zod';
import { AddNote } from '../../contract/admin.ts';
import { AdminOfflineRepair, Assign, type MoveQuery } from '../../contract/admin-returns.ts';
import { OFFLINE_REPAIR_MOVES, type OfflineRepairAction } from '../../contract/lifecycle.ts';
import { type OfflineRepair, OfflineRepairActionBody } from '../../contract/offline-repair.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals, stale } from '../http/openapi/route-schemas.ts';
import { assignOfflineRepair, moveOfflineRepair, noteOfflineRepair } from './actions.ts';

const tags = ['Offline repairs'];
const params = z.object({ id: z.string() });
const WRITE = refusals(400, 401, 403, 404, 413, 415, 429, 503);

/** What the reference says about each action. */
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

/** Staff also say what they saw, so `query` is theirs alone. */
export const moveRoutes = (
  app: ApiApp,
  ctx: Context,
  item: typeof OfflineRepair | typeof AdminOfflineRepair,
  query?: typeof MoveQuery,
): void => {
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
          ...(query ? { querystring: query } : {}),
          body: OfflineRepairActionBody[action] as z.ZodType,
          response: {
            200: answer('The whole repair, as it stands after this.', item),
            ...WRITE,
            ...(query ? stale : {}),
          },
        },
      },
      (request) => {
        const { seen } = request.query as z.infer<typeof MoveQuery>;
        return moveOfflineRepair(ctx, request.caller, request.params.id, action, request.body as never, seen);
      },
    );
  }
};

export const noteRoute = (app: ApiApp, ctx: Context): void => {
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
        response: { 200: answer('The whole repair.', AdminOfflineRepair), ...WRITE },
      },
    },
    (request) => noteOfflineRepair(ctx, request.caller, request.params.id, request.body.note),
  );
};

export const assignRoute = (app: ApiApp, ctx: Context): void => {
  app.post(
    '/offline-repairs/:id/assign',
    {
      schema: {
        operationId: 'assignOfflineRepair',
        summary: 'Assign to somebody of the team',
        description: 'Its status stays as it is, and nobody outside is told.',
        tags,
        params,
        body: Assign,
        response: { 200: answer('The whole repair.', AdminOfflineRepair), ...WRITE },
      },
    },
    (request) => assignOfflineRepair(ctx, request.caller, request.params.id, request.body.assigneeId),
  );
};
