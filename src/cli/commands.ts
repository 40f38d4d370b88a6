import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { ChangeApiClient, ReplaceApiClient } from '../../contract/admin.ts';
import type { UserRole } from '../../contract/admin-people.ts';
import { isId } from '../../contract/common.ts';
import type { FindCustomer } from '../../contract/personal-data.ts';
import type { Context } from '../api/context.ts';
import {
  changeClient,
  createClient,
  type NewApiClient,
  replaceClient,
  revokeClient,
  viewClient,
} from '../api-clients/actions.ts';
import { type ApiClient, findClient, isInUse, listClients } from '../api-clients/store.ts';
import { resealAll } from '../app/reseal.ts';
import { OPERATOR } from '../audit/store.ts';
import { refuseExisting, writeNewFile } from '../backup/backup-file.ts';
import type { Db } from '../db/types.ts';
import { toIso } from '../lib/time.ts';
import { eraseCustomer } from '../personal-data/erase.ts';
import {
  addErasures,
  countUnfinished,
  existingSubjects,
  finishErasures,
  ListedErasure,
} from '../personal-data/erasures.ts';
import { exportCustomer, findCustomer } from '../personal-data/find.ts';
import type { SecretBox } from '../platform/secrets.ts';
import { CliFailure, cannot } from '../platform/start-failure.ts';
import { changeShop, createShop, type NewShop, type ShopChange } from '../shops/actions.ts';
import { changeDangerousGoods, type RuleChange } from '../shops/dangerous-goods.ts';
import { beginShopDeletion, deleteShopStep, exportShop } from '../shops/delete-shop.ts';
import type { Shop } from '../shops/plans.ts';
import { findShop, listShops } from '../shops/store.ts';
import { addPerson, createLink } from '../staff/links.ts';
import { unlinkProvider } from '../staff/provider-sign-in.ts';
import { resetFactor } from '../staff/second-factor.ts';
import { findByEmail } from '../staff/users.ts';
import { addressGuard } from '../webhooks/address-guard.ts';
import { notice, print } from './command.ts';

// These functions are the commands of shop-commands.ts. run.ts prints the message of a ServiceError.

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

const findOrFail = async <Row>(kind: string, id: string, find: () => Promise<Row | null>): Promise<Row> => {
  const row = isId(id) ? await find() : null;
  if (!row) throw new CliFailure(`there is no ${kind} ${id}`);
  return row;
};

const shopById = (ctx: Context, id: string): Promise<Shop> =>
  findOrFail('shop', id, () => findShop(ctx.db, id));
const operatorOf = async (ctx: Context, shopId: string) => ({
  shop: await shopById(ctx, shopId),
  actor: OPERATOR,
});
const clientById = (ctx: Context, id: string): Promise<ApiClient> =>
  findOrFail('client', id, () => findClient(ctx.db, id));

const requireAllowedUrl = async (ctx: Context, url: string | null | undefined): Promise<void> => {
  const problem = url ? await ctx.addressGuard.urlError(url) : null;
  if (!url || !problem) return;
  // The service may have a setting that this command does not see.
  const isFineIfPrivate = (await addressGuard({ allowPrivate: true }).urlError(url)) === null;
  const hint = isFineIfPrivate
    ? ' (unless WEBHOOK_ALLOW_PRIVATE_NETWORKS=true is set for this command too)'
    : '';
  throw new CliFailure(`the webhook URL ${problem}${hint}`);
};

export const shopCreate = async (ctx: Context, options: NewShop) =>
  shopFields(await createShop(ctx, OPERATOR, options));

export const shopUpdate = async (ctx: Context, id: string, options: ShopChange) =>
  shopFields(await findOrFail('shop', id, () => changeShop(ctx, OPERATOR, id, options)));

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
  const { id, email, role } = await addPerson(ctx, await operatorOf(ctx, shop), { name: null, ...user });
  return { id, email, role };
};

/** Waits for an email, since the process ends afterwards. `mailAccepted` says whether the mail server accepted it. */
const mailAccepted = async ({ mail }: Context): Promise<boolean> => mail !== null && (await mail.finish());

export const userInvite = async (ctx: Context, { shop, name = null, ...user }: PersonOptions) => {
  const invited = { name, password: null, ...user };
  const created = await addPerson(ctx, await operatorOf(ctx, shop), invited, ctx.config.publicUrl);
  const { id, email, role, link, linkExpiresAt } = created;
  return { id, email, role, link, linkExpiresAt, mailed: await mailAccepted(ctx) };
};

const userByEmail = async (ctx: Context, given: string) => {
  const user = await findByEmail(ctx.db, given);
  if (!user) throw new CliFailure(`there is no user ${given}`);
  const { id, email } = user;
  return { id, email, operator: await operatorOf(ctx, user.shop_id) };
};

export const userLink = async (ctx: Context, given: string) => {
  const { id, email, operator } = await userByEmail(ctx, given);
  const wanted = { besideProvider: true };
  const { link, linkExpiresAt } = await createLink(ctx, operator, id, wanted, ctx.config.publicUrl);
  return { id, email, link, linkExpiresAt, mailed: await mailAccepted(ctx) };
};

export const userResetFactor = async (ctx: Context, given: string) => {
  const { id, email, operator } = await userByEmail(ctx, given);
  await resetFactor(ctx, operator, id);
  return { id, email, secondFactor: false };
};

export const userUnlinkProvider = async (ctx: Context, given: string) => {
  const { id, email, operator } = await userByEmail(ctx, given);
  await unlinkProvider(ctx, operator, id);
  return { id, email };
};

const newClientFields = ({ id, name, webhookUrl, apiKey, webhookSecret }: NewApiClient) => ({
  id,
  name,
  webhookUrl,
  apiKey,
  webhookSecret,
});

/** The fields of a client without its event names, which would fill several lines. */
const clientFields = (ctx: Context, client: ApiClient) => {
  const { events: _, ...fields } = viewClient(ctx, client);
  return fields;
};

type ClientOptions = Omit<ChangeApiClient, 'expiresAt'> & { expires?: number | null };
type NewClientOptions = ClientOptions & { shop: string; name: string };

export const clientCreate = async (ctx: Context, { shop, expires, ...options }: NewClientOptions) => {
  const { webhookUrl = null } = options;
  await requireAllowedUrl(ctx, webhookUrl);
  const { id: shopId } = await shopById(ctx, shop);
  const given = { ...options, shopId, webhookUrl, expiresAt: expires };
  return newClientFields(await createClient(ctx, OPERATOR, given));
};

export const clientUpdate = async (ctx: Context, id: string, { expires, ...options }: ClientOptions) => {
  await requireAllowedUrl(ctx, options.webhookUrl);
  const change = { ...options, expiresAt: expires };
  return clientFields(ctx, await findOrFail('client', id, () => changeClient(ctx, OPERATOR, id, change)));
};

export const clientRevoke = async (ctx: Context, id: string) =>
  clientFields(ctx, await revokeClient(ctx, OPERATOR, await clientById(ctx, id)));

export const clientReplace = async (ctx: Context, id: string, options: Partial<ReplaceApiClient>) => {
  await requireAllowedUrl(ctx, options.webhookUrl);
  const old = await clientById(ctx, id);
  return newClientFields(await replaceClient(ctx, OPERATOR, old, options));
};

export const clientList = async (ctx: Context, { shop }: { shop: string }) =>
  (await listClients(ctx.db, (await shopById(ctx, shop)).id)).map((client) => clientFields(ctx, client));

/** Names and skips a row whose secret no key can open. */
export const secretsReseal = async (ctx: Context) => {
  const { resealed, total, failed } = await resealAll(ctx);
  for (const { table, id } of failed) notice(`no key in SECRET_KEY opens the secret of ${table} ${id}`);
  if (failed.length > 0) process.exitCode = 1;
  return { resealed, total, failed: failed.length };
};

// --- customers ---

type CustomerOptions = FindCustomer & { shop: string };

export const customerFind = async (ctx: Context, { shop, ...person }: CustomerOptions) => {
  const { total, returns } = await findCustomer(ctx, await operatorOf(ctx, shop), person);
  if (total > returns.length)
    notice(`${total} returns belong to the customer: the newest ${returns.length} follow`);
  return returns;
};

export const customerExport = async (
  ctx: Context,
  { shop, output, ...person }: CustomerOptions & { output?: string },
) => {
  if (output) refuseExisting(output);
  const text = await exportCustomer(ctx, await operatorOf(ctx, shop), person);
  if (output) return { file: output, bytes: await writeNewFile(output, text) };
  for await (const chunk of text) process.stdout.write(chunk);
  process.stdout.write('\n');
};

type Flags = { [Flag in 'includeOpen' | 'dryRun' | 'confirm' | 'json']?: boolean };

export const customerErase = async (ctx: Context, options: CustomerOptions & Flags & { reason: string }) => {
  const { shop, json, confirm, dryRun = false, includeOpen = false, ...asked } = options;
  const caller = await operatorOf(ctx, shop);
  const planned = await eraseCustomer(ctx, caller, { ...asked, includeOpen, dryRun: true });
  const refused = planned.refused.map(({ rmaNumber, reason }) => `${rmaNumber} ${reason}`);
  const rmaNumbers = planned.returns.map(({ rmaNumber }) => rmaNumber);
  if (dryRun) return { ...planned, returns: rmaNumbers, refused };
  if (!confirm)
    throw new CliFailure(
      `this would erase ${planned.erased + planned.remaining} of ${planned.matched} returns and cannot be undone: add --confirm, or check first with --dry-run`,
    );
  if (!json) print({ erases: rmaNumbers, refuses: refused }, false);
  let erased = 0;
  for (let remaining = 1; remaining > 0; ) {
    const done = await eraseCustomer(ctx, caller, { ...asked, includeOpen, dryRun });
    erased += done.erased;
    remaining = done.erased > 0 ? done.remaining : 0;
  }
  return { erased, refused };
};

// --- the list of erasures ---

const LIST_PURPOSE = 'erasures';
/** The list ends with a signature, as a backup does. Otherwise anyone with write access to the file could delete a shop. */
const LIST_SIGNATURE = /^\{"hmac":"([\w-]{43})"\}\n?$/m;

/** Reads the whole list and checks its signature before anything is written. */
export const readErasureList = async (
  path: string,
  secrets: () => SecretBox,
  acceptsUnsigned = false,
): Promise<ListedErasure[]> => {
  const text = await readFile(path, 'utf8').catch((error) => cannot('read', path, error));
  const signature = LIST_SIGNATURE.exec(text);
  const isLast = signature !== null && signature.index + signature[0].length === text.length;
  const signed = isLast ? text.slice(0, signature.index) : text;
  if (!acceptsUnsigned && !(isLast && secrets().isSigned(LIST_PURPOSE, signed, signature[1] ?? '')))
    throw new CliFailure(
      `${path} is not signed with the key of this installation, or was changed since: nothing was changed. If you know who wrote it, --unsigned accepts it`,
    );
  return (signed.match(/.*\n|.+$/g) ?? []).map((line, i) => {
    try {
      return ListedErasure.parse(JSON.parse(line));
    } catch {
      throw new CliFailure(`line ${i + 1} of ${path} cannot be read: nothing was changed`);
    }
  });
};

/** Adds a list of erasures, and returns the names of existing shops and people that it deletes. These need a confirmation. */
export const addConfirmed = async (
  db: Db,
  list: ListedErasure[],
  isConfirmed: boolean,
): Promise<string[]> => {
  const live = await existingSubjects(db, list);
  if (live.length > 0 && !isConfirmed)
    throw new CliFailure(
      `the list deletes ${live.join(', ')}: add --confirm if that is right; nothing was changed`,
    );
  await addErasures(db, list);
  return live;
};

/** Returns the length of a list and its newest time, since an outdated list has a valid signature too. */
export const summaryOf = (list: ListedErasure[]) => ({
  listed: list.length,
  newest: list.length === 0 ? null : toIso(Math.max(...list.map(({ at }) => at))),
});

/** A pause between steps, long enough for writers of a running service. */
const ERASURE_PAUSE_MS = 10;

export const applyErasures = async (ctx: Context) => {
  const { unfinished, unknown } = await countUnfinished(ctx.db);
  while (await finishErasures(ctx)) await pause(ERASURE_PAUSE_MS);
  await ctx.scrub();
  const { unfinished: left } = await countUnfinished(ctx.db);
  if (left > 0) {
    notice(
      `${left} erasures could not be done now: the service tries them again. The only Admin of a shop stays until it has another one`,
    );
    process.exitCode = 1;
  }
  return { applied: unfinished - unknown - left, unknown, left };
};

interface ErasureListOptions {
  apply?: string;
  unsigned?: boolean;
  confirm?: boolean;
}

export const customerErasures = async (
  ctx: Context,
  { apply, unsigned, confirm = false }: ErasureListOptions,
) => {
  const columns = Object.keys(ListedErasure.shape) as (keyof ListedErasure)[];
  const all = ctx.db.selectFrom('erasures').select(columns).orderBy('subject_id');
  if (apply === undefined) {
    const text = (await all.execute()).map((erasure) => `${JSON.stringify(erasure)}\n`).join('');
    const [hmac] = ctx.secrets.signatures(LIST_PURPOSE, text);
    process.stdout.write(`${text}${JSON.stringify({ hmac })}\n`);
    return;
  }
  const list = await readErasureList(apply, () => ctx.secrets, unsigned);
  const deletes = await ctx.db.transaction().execute((trx) => addConfirmed(trx, list, confirm));
  return { ...summaryOf(list), ...(await applyErasures(ctx)), deletes };
};

// --- shop delete ---

export const shopDelete = async (
  ctx: Context,
  id: string,
  { confirm, export: file }: { confirm: string; export: string | false },
) => {
  // The query also finds a shop whose deletion has begun before.
  const shops = ctx.db.selectFrom('shops').select('name').where('id', '=', id);
  const { name } = (isId(id) && (await shops.executeTakeFirst())) || (await shopById(ctx, id));
  if (name !== confirm) throw new CliFailure(`shop ${id} has another name: nothing was deleted`);
  const active = (await listClients(ctx.db, id)).filter(isInUse);
  const names = active.map((client) => `${client.name} (${client.id})`).join(', ');
  if (names) throw new CliFailure(`the shop has active clients: revoke ${names} first; nothing was deleted`);
  const begun = ctx.db.selectFrom('erasures').select('at').where('subject_id', '=', id);
  if (file && (await begun.executeTakeFirst()))
    notice('the deletion was started before: no export is written now');
  else if (file) await writeNewFile(file, exportShop(ctx, id));
  await beginShopDeletion(ctx, id);
  let rows = 0;
  for (let deleted = 1; deleted > 0; rows += deleted) deleted = await deleteShopStep(ctx, id);
  await ctx.scrub();
  return { id, name, rows, deleted: true };
};
