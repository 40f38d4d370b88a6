import { ReplaceShopSettings, ShopSettings } from '../../contract/shop-settings.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals } from '../http/openapi/route-schemas.ts';
import { readShopSettings, replaceShopSettings } from './settings.ts';

const tags = ['Settings'];
/** Room for the logo, which is larger than any other body. */
const BODY_LIMIT_BYTES = 384 * 1024;

export const shopSettingsRoutes = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/shop-settings',
    {
      schema: {
        operationId: 'getShopSettings',
        summary: "Read the shop's settings",
        tags,
        response: { 200: answer('The settings.', ShopSettings), ...refusals(400, 401, 403, 503) },
      },
    },
    ({ caller }) => readShopSettings(ctx, caller.shop),
  );

  app.put(
    '/shop-settings',
    {
      bodyLimit: BODY_LIMIT_BYTES,
      config: { role: 'ADMIN' },
      schema: {
        operationId: 'replaceShopSettings',
        summary: "Replace the shop's settings",
        tags,
        body: ReplaceShopSettings,
        response: {
          200: answer('The settings as they are now.', ShopSettings),
          ...refusals(400, 401, 403, 413, 415, 503),
        },
      },
    },
    ({ caller, body }) => replaceShopSettings(ctx, caller.actor, caller.shop.id, body),
  );
};
