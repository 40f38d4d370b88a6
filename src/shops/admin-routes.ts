import { DangerousGoods, ReplaceDangerousGoods } from '../../contract/admin-people.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals } from '../http/openapi/route-schemas.ts';
import { listRules } from './dangerous-goods.ts';
import { replaceDangerousGoods } from './dangerous-goods-actions.ts';

const tags = ['Settings'];
const config = { role: 'ADMIN' } as const;

export const dangerousGoodsRoutes = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/dangerous-goods',
    {
      config,
      schema: {
        operationId: 'getDangerousGoods',
        summary: 'Read the dangerous-goods rules',
        tags,
        response: { 200: answer('The rules.', DangerousGoods), ...refusals(400, 401, 403, 503) },
      },
    },
    async ({ caller }) => ({ rules: await listRules(ctx.db, caller.shop.id) }),
  );

  app.put(
    '/dangerous-goods',
    {
      config,
      schema: {
        operationId: 'replaceDangerousGoods',
        summary: 'Replace the dangerous-goods rules',
        description: 'They count from the next repair on; what was handed in before stays as it is.',
        tags,
        body: ReplaceDangerousGoods,
        response: {
          200: answer('The rules as they are now.', DangerousGoods),
          ...refusals(400, 401, 403, 413, 415, 503),
        },
      },
    },
    async ({ caller, body }) => ({
      rules: await replaceDangerousGoods(ctx, caller.actor, caller.shop.id, body.rules),
    }),
  );
};
