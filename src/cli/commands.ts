import { isId } from '../../contract/common.ts';
import { changeClient, createClient, revokeClient } from '../api-clients/actions.ts';
import { type ApiClient, findClient, listClients } from '../api-clients/store.ts';
import type { Context } from '../context.ts';
import { isDuplicate } from '../db/errors.ts';
import { type BillingChange, changeShop, createShop } from '../shops/actions.ts';
import { addRule, listRules, removeRule } from '../shops/dangerous-goods.ts';
import type { Plan, Shop } from '../shops/plans.ts';
import { findShop, listShops } from '../shops/store.ts';
import { createUser, type UserRole } from '../staff/users.ts';
import { CliFailure, clientFields, shopFields } from './output.ts';

// What each command does, given its arguments; how they are spelt is in cli.ts.

const found = async <Thing>(kind: string, id: string, find: () => Promise<Thing | null>): Promise<Thing> => {
  const thing = isId(id) ? await find() : null;
  if (!thing) throw new CliFailure(`there is no ${kind} ${id}`);
  return thing;
};

const shopById = (ctx: Context, id: string): Promise<Shop> => found('shop', id, () => findShop(ctx.db, id));
const clientById = (ctx: Context, id: string): Promise<ApiClient> =>
  found('client', id, () => findClient(ctx.db, id));

const checkWebhookUrl = async (ctx: Context, url: string | null | undefined): Promise<void> => {
  const fault = url ? await ctx.addressGuard.faultOf(url) : null;
  if (fault) throw new CliFailure(`the webhook URL ${fault}`);
};

export const shopCreate = async (ctx: Context, options: { name: string; plan: Plan } & BillingChange) =>
  shopFields(await createShop(ctx, options));

export const shopUpdate = async (
  ctx: Context,
  id: string,
  options: { plan?: Plan; subscription?: 'active' | 'inactive' } & BillingChange,
) => shopFields(await found('shop', id, () => changeShop(ctx, id, options)));

export const shopList = async (ctx: Context) => (await listShops(ctx.db)).map(shopFields);

export const shopDangerous = async (
  ctx: Context,
  id: string,
  { add = [], remove = [] }: { add?: string[]; remove?: string[] },
) => {
  const shop = await shopById(ctx, id);
  await ctx.db.transaction().execute(async (trx) => {
    for (const pattern of add) await addRule(trx, shop.id, pattern);
    for (const pattern of remove)
      if (!(await removeRule(trx, shop.id, pattern))) throw new CliFailure(`the shop has no rule ${pattern}`);
  });
  return { shopId: shop.id, rules: await listRules(ctx.db, shop.id) };
};

export const userCreate = async (
  ctx: Context,
  { shop, ...user }: { shop: string; email: string; role: UserRole; password: string },
) => {
  try {
    const { id, email, role } = await createUser(ctx, { shopId: (await shopById(ctx, shop)).id, ...user });
    return { id, email, role };
  } catch (error) {
    throw isDuplicate(error) ? new CliFailure('there is a user with this e-mail already') : error;
  }
};

export const clientCreate = async (
  ctx: Context,
  { shop, name, webhookUrl = null }: { shop: string; name: string; webhookUrl?: string | null },
) => {
  await checkWebhookUrl(ctx, webhookUrl);
  const client = await createClient(ctx, { shopId: (await shopById(ctx, shop)).id, name, webhookUrl });
  return { id: client.id, name, webhookUrl, apiKey: client.apiKey, webhookSecret: client.webhookSecret };
};

export const clientUpdate = async (
  ctx: Context,
  id: string,
  options: { name?: string; webhookUrl?: string | null },
) => {
  await checkWebhookUrl(ctx, options.webhookUrl);
  const client = await clientById(ctx, id);
  const nothingToChange = options.name === undefined && options.webhookUrl === undefined;
  return clientFields(
    nothingToChange ? client : await found('client', id, () => changeClient(ctx, id, options)),
  );
};

export const clientRevoke = async (ctx: Context, id: string) =>
  clientFields(await revokeClient(ctx, await clientById(ctx, id)));

export const clientList = async (ctx: Context, { shop }: { shop: string }) =>
  (await listClients(ctx.db, (await shopById(ctx, shop)).id)).map(clientFields);
