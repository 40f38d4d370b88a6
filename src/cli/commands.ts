import type { ChangeApiClient, ReplaceApiClient } from '../../contract/admin.ts';
import type { UserRole } from '../../contract/admin-people.ts';
import { isId } from '../../contract/common.ts';
import {
  changeClient,
  createClient,
  type NewApiClient,
  replaceClient,
  revokeClient,
  viewClient,
} from '../api-clients/actions.ts';
import { type ApiClient, findClient, listClients } from '../api-clients/store.ts';
import { OPERATOR } from '../audit/store.ts';
import { toIso } from '../lib/time.ts';
import type { Context } from '../service/context.ts';
import { resealAll } from '../service/reseal.ts';
import { changeShop, createShop, type NewShop, type ShopChange } from '../shops/actions.ts';
import { changeDangerousGoods, type RuleChange } from '../shops/dangerous-goods.ts';
import type { Shop } from '../shops/plans.ts';
import { findShop, listShops } from '../shops/store.ts';
import { addPerson, createLink } from '../staff/links.ts';
import { resetFactor } from '../staff/second-factor.ts';
import { createUser, findByEmail } from '../staff/users.ts';
import { addressGuard } from '../webhooks/address-guard.ts';
import { CliFailure, notice } from './command.ts';

// What the commands of shop-commands.ts do. run.ts prints the message of a ServiceError.

const shopFields = (shop: Shop) => ({
  id: shop.id,
  name: shop.name,
  plan: shop.plan,
  subscription: shop.active ? 'active' : 'inactive',
  billing: shop.billing.kind,
  allowance: shop.billing.kind === 'ALLOWANCE' ? shop.billing.limit : null,
  usageCap: shop.billing.kind === 'USAGE' ? shop.billing.limit : null,
  createdAt: toIso(shop.createdAt),
});

const found = async <Thing>(kind: string, id: string, find: () => Promise<Thing | null>): Promise<Thing> => {
  const thing = isId(id) ? await find() : null;
  if (!thing) throw new CliFailure(`there is no ${kind} ${id}`);
  return thing;
};

export const shopById = (ctx: Context, id: string): Promise<Shop> =>
  found('shop', id, () => findShop(ctx.db, id));
const clientById = (ctx: Context, id: string): Promise<ApiClient> =>
  found('client', id, () => findClient(ctx.db, id));

const checkWebhookUrl = async (ctx: Context, url: string | null | undefined): Promise<void> => {
  const problem = url ? await ctx.addressGuard.errorOf(url) : null;
  if (!url || !problem) return;
  // The service may run with the setting while this command does not see it.
  const wouldDo = (await addressGuard({ allowPrivate: true }).errorOf(url)) === null;
  const hint = wouldDo ? ' (unless WEBHOOK_ALLOW_PRIVATE_NETWORKS=true is set for this command too)' : '';
  throw new CliFailure(`the webhook URL ${problem}${hint}`);
};

export const shopCreate = async (ctx: Context, options: NewShop) =>
  shopFields(await createShop(ctx, OPERATOR, options));

export const shopUpdate = async (ctx: Context, id: string, options: ShopChange) =>
  shopFields(await found('shop', id, () => changeShop(ctx, OPERATOR, id, options)));

export const shopList = async (ctx: Context) => (await listShops(ctx.db)).map(shopFields);

export const shopDangerous = async (ctx: Context, id: string, options: RuleChange) => {
  const { id: shopId } = await shopById(ctx, id);
  return { shopId, rules: await changeDangerousGoods(ctx, OPERATOR, shopId, options) };
};

interface PersonOptions {
  shop: string;
  email: string;
  name?: string | null;
  role: UserRole;
}

export const userCreate = async (ctx: Context, { shop, ...user }: PersonOptions & { password: string }) => {
  const { id: shopId } = await shopById(ctx, shop);
  const { id, email, role } = await createUser(ctx, OPERATOR, { shopId, ...user });
  return { id, email, role };
};

/** A mail goes out before the process ends; `mailed` says whether the server accepted it. */
const mailed = async (ctx: Context): Promise<boolean> => ctx.mail.isOn && (await ctx.mail.finish());

const linkOptions = ({ config }: Context) => ({ baseUrl: config.publicUrl, mayMail: async () => true });

export const userInvite = async (ctx: Context, { shop: shopId, name = null, ...user }: PersonOptions) => {
  const shop = await shopById(ctx, shopId);
  const invited = { name, password: null, ...user };
  const operator = { shop, actor: OPERATOR };
  const created = await addPerson(ctx, operator, invited, linkOptions(ctx));
  const { id, email, role, link, linkExpiresAt } = created;
  return { id, email, role, link, linkExpiresAt, mailed: await mailed(ctx) };
};

const userByEmail = async (ctx: Context, email: string) => {
  const user = await findByEmail(ctx.db, email);
  if (!user) throw new CliFailure(`there is no user ${email}`);
  return { user, shop: await shopById(ctx, user.shop_id) };
};

export const userLink = async (ctx: Context, given: string) => {
  const { user, shop } = await userByEmail(ctx, given);
  const { id, email } = user;
  const { link, linkExpiresAt } = await createLink(ctx, { shop, actor: OPERATOR }, id, linkOptions(ctx));
  return { id, email, link, linkExpiresAt, mailed: await mailed(ctx) };
};

export const userResetFactor = async (ctx: Context, given: string) => {
  const { user, shop } = await userByEmail(ctx, given);
  await resetFactor(ctx, { shop, actor: OPERATOR }, user.id);
  return { id: user.id, email: user.email, secondFactor: false };
};

const newClientFields = ({ id, name, webhookUrl, apiKey, webhookSecret }: NewApiClient) => ({
  id,
  name,
  webhookUrl,
  apiKey,
  webhookSecret,
});

/** Without the names of its events, which would fill several lines. */
const clientFields = (ctx: Context, client: ApiClient) => {
  const { events: _, ...fields } = viewClient(ctx, client);
  return fields;
};

type ClientOptions = Omit<ChangeApiClient, 'expiresAt'> & { expires?: number | null };
type NewClientOptions = ClientOptions & { shop: string; name: string };

export const clientCreate = async (ctx: Context, { shop, expires, ...options }: NewClientOptions) => {
  const { webhookUrl = null } = options;
  await checkWebhookUrl(ctx, webhookUrl);
  const { id: shopId } = await shopById(ctx, shop);
  const given = { ...options, shopId, webhookUrl, expiresAt: expires };
  return newClientFields(await createClient(ctx, OPERATOR, given));
};

export const clientUpdate = async (ctx: Context, id: string, { expires, ...options }: ClientOptions) => {
  await checkWebhookUrl(ctx, options.webhookUrl);
  const change = { ...options, expiresAt: expires };
  return clientFields(ctx, await found('client', id, () => changeClient(ctx, OPERATOR, id, change)));
};

export const clientRevoke = async (ctx: Context, id: string) =>
  clientFields(ctx, await revokeClient(ctx, OPERATOR, await clientById(ctx, id)));

export const clientReplace = async (ctx: Context, id: string, options: Partial<ReplaceApiClient>) => {
  await checkWebhookUrl(ctx, options.webhookUrl);
  const old = await clientById(ctx, id);
  return newClientFields(await replaceClient(ctx, OPERATOR, old, options));
};

export const clientList = async (ctx: Context, { shop }: { shop: string }) =>
  (await listClients(ctx.db, (await shopById(ctx, shop)).id)).map((client) => clientFields(ctx, client));

/** A row whose secret no key opens is named and skipped. */
export const secretsReseal = async (ctx: Context) => {
  const { resealed, total, failed } = await resealAll(ctx);
  for (const { table, id } of failed) notice(`no key in SECRET_KEY opens the secret of ${table} ${id}`);
  if (failed.length > 0) process.exitCode = 1;
  return { resealed, total, failed: failed.length };
};
