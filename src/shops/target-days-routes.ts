import { TargetDays } from '../../contract/admin-work.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals } from '../http/openapi/route-schemas.ts';
import { readTargets, replaceTargets, viewTargets } from './target-days.ts';

const tags = ['Settings'];

export const targetDaysRoutes = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/target-days',
    {
      schema: {
        operationId: 'getTargetDays',
        summary: 'Read the target days',
        tags,
        response: { 200: answer('The targets.', TargetDays), ...refusals(400, 401, 503) },
      },
    },
    async ({ caller }) => viewTargets(await readTargets(ctx, caller.shop.id)),
  );

  app.put(
    '/target-days',
    {
      config: { role: 'ADMIN' },
      schema: {
        operationId: 'replaceTargetDays',
        summary: 'Replace the target days',
        description:
          'After so many days in a status a return is overdue. They count at once, also for what has waited before; a move starts anew.',
        tags,
        body: TargetDays,
        response: {
          200: answer('The targets as they are now.', TargetDays),
          ...refusals(400, 401, 403, 413, 415, 503),
        },
      },
    },
    ({ caller, body }) => replaceTargets(ctx, caller.actor, caller.shop.id, body),
  );
};
