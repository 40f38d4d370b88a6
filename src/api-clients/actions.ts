import {
  type ApiClientView,
  type ChangeApiClient,
  type CreateApiClient,
  type DeliveryQuery,
  EXPIRES_SOON_DAYS,
  LONGEST_OVERLAP_DAYS,
  type ReplaceApiClient,
} from '../../contract/admin.ts';
import { type Actor, isId, RIGHTS } from '../../contract/common.ts';
import { RMA_EVENT_NAMES } from '../../contract/event-feed.ts';
import { changesBetween, recordAudit } from '../audit/store.ts';
import type { RateGate, RateWindows, Trx } from '../db/types.ts';
import { newId } from '../lib/ids.ts';
import { DAY_MS, isoOrNull, toIso } from '../lib/time.ts';
import type { Core } from '../platform/core.ts';
import { invalidField, rateLimited, ServiceError } from '../platform/errors.ts';
import { sha256 } from '../platform/secrets.ts';
import type { Caller } from '../shops/plans.ts';
import { lockShop, requireShop } from '../shops/store.ts';
import { listDeliveriesWithPayloads, viewWithPayload } from '../webhooks/deliveries.ts';
import { chosenEvents, enqueueTest, webhookSecretColumn } from '../webhooks/outbox.ts';
import type { WebhookServices } from '../webhooks/services.ts';
import { newApiKey, newWebhookSecret } from './authenticate.ts';
import {
  type ApiClient,
  findClient,
  insertClient,
  isInUse,
  listClients,
  lockClient,
  updateClient,
} from './store.ts';

export interface NewApiClient extends ApiClient {
  apiKey: string;
  webhookSecret: string;
}

const about = (client: ApiClient) => ({
  shopId: client.shopId,
  subject: { type: 'CLIENT', id: client.id, name: client.name } as const,
});

/** The settings of an Admin or the operator. An absent one takes its default in a new client and stays unchanged in an existing one. */
type ClientSettings = Pick<ChangeApiClient, 'rights' | 'events' | 'expiresAt'>;

const settingsRow = ({ rights, events, expiresAt }: ClientSettings) => ({
  rights: rights ? RIGHTS.filter((each) => rights.includes(each)).join() : undefined,
  events: events ? RMA_EVENT_NAMES.filter((each) => events.includes(each)).join() : undefined,
  expires_at: expiresAt,
});

/** To end a key immediately, it is revoked: a time in the past is probably a mistyped year. */
const mustBeInFuture = (expiresAt: number | null | undefined, nowMs: number): void => {
  if (typeof expiresAt === 'number' && expiresAt <= nowMs)
    throw invalidField('expiresAt', 'format', 'must be in the future');
};

const AUDITED = ['name', 'webhookUrl', 'rights', 'events', 'expiresAt'] as const;
const auditable = (client: ApiClient) => ({ ...client, expiresAt: isoOrNull(client.expiresAt) });
const auditedChanges = (before: ApiClient, after: ApiClient) =>
  changesBetween(auditable(before), auditable(after), AUDITED);

/** The limit of a shop's clients with working keys. A replaced one counts as long as its key works (docs/guide/limits.md). */
const MOST_CLIENTS = 100;

/** It locks the shop, so that of two concurrent calls only one takes the last free client. */
const refuseTooMany = async (trx: Trx, shopId: string, nowMs: number): Promise<void> => {
  await requireShop(trx, shopId);
  const overlaps = ({ revokedAt, expiresAt }: ApiClient) => revokedAt === null && (expiresAt ?? 0) > nowMs;
  const inUse = (await listClients(trx, shopId)).filter((each) => isInUse(each) || overlaps(each));
  if (inUse.length >= MOST_CLIENTS) throw new ServiceError('TOO_MANY_CLIENTS');
};

export const createClient = async (
  ctx: Core,
  actor: Actor,
  given: { shopId: string; name: string; webhookUrl: string | null } & ClientSettings,
): Promise<NewApiClient> => {
  const { shopId, name, webhookUrl } = given;
  const { identity, shownOnce } = newIdentity(ctx);
  const at = identity.created_at;
  mustBeInFuture(given.expiresAt, at);
  const row = { ...identity, shop_id: shopId, name, webhook_url: webhookUrl, ...settingsRow(given) };
  return ctx.db.transaction().execute(async (trx) => {
    await refuseTooMany(trx, shopId, at);
    const created = await insertClient(trx, row);
    const { expires_at, ...chosen } = settingsRow(given);
    const data = { webhookUrl, ...chosen, ...(expires_at && { expiresAt: toIso(expires_at) }) };
    await recordAudit(trx, { ...about(created), at, actor, action: 'CLIENT_CREATED', data });
    return { ...created, ...shownOnce };
  });
};

const newIdentity = (ctx: Core) => {
  const shownOnce = { apiKey: newApiKey(), webhookSecret: newWebhookSecret() };
  const created_at = ctx.clock.now();
  const id = newId(created_at);
  const webhook_secret = ctx.secrets.seal(shownOnce.webhookSecret, webhookSecretColumn(id));
  const key_hash = sha256(shownOnce.apiKey);
  return { identity: { id, receiver_id: id, key_hash, webhook_secret, created_at }, shownOnce };
};

export const changeClient = (ctx: Core, actor: Actor, id: string, change: ChangeApiClient) =>
  ctx.db.transaction().execute(async (trx) => {
    const before = await lockClient(trx, id);
    if (before && before.revokedAt !== null) throw new ServiceError('CLIENT_REVOKED');
    if (before && before.replacedBy !== null) throw wasReplaced(before.replacedBy, 'change');
    const set = { name: change.name, webhook_url: change.webhookUrl, ...settingsRow(change) };
    if (!before || Object.values(set).every((value) => value === undefined)) return before;
    if (change.expiresAt !== before.expiresAt) mustBeInFuture(change.expiresAt, ctx.clock.now());
    const after = await updateClient(trx, id, set);
    // The failures were those of the old address.
    if (after.webhookUrl !== before.webhookUrl)
      await trx.deleteFrom('webhook_failures').where('receiver_id', '=', after.receiverId).execute();
    const data = auditedChanges(before, after);
    if (data)
      await recordAudit(trx, { ...about(after), at: ctx.clock.now(), actor, action: 'CLIENT_CHANGED', data });
    return after;
  });

const wasReplaced = (by: string, verb: string): ServiceError =>
  new ServiceError('CLIENT_REPLACED', {
    message: `The client was replaced already: ${verb} the client that took its place, ${by}.`,
  });

/** Revokes a client permanently, from its next request on. Revoking it again changes nothing. */
export const revokeClient = (ctx: Core, actor: Actor, client: ApiClient): Promise<ApiClient> =>
  ctx.db.transaction().execute(async (trx) => {
    const before = (await lockClient(trx, client.id)) ?? client;
    if (before.revokedAt !== null) return before;
    const at = ctx.clock.now();
    const after = await updateClient(trx, client.id, { revoked_at: at });
    await recordAudit(trx, { ...about(after), at, actor, action: 'CLIENT_REVOKED', data: {} });
    return after;
  });

/**
 * A new client replaces the old one as the client of its receiver: it gets the pending deliveries, later events of returns that the
 * old one created, and the idempotency keys. Settings that are not given are copied, except `expiresAt`.
 */
export const replaceClient = async (
  ctx: Core,
  actor: Actor,
  { id, shopId }: ApiClient,
  { name, webhookUrl, oldKeyUntil = null }: Partial<ReplaceApiClient>,
): Promise<NewApiClient> => {
  const { identity, shownOnce } = newIdentity(ctx);
  const at = identity.created_at;
  if (oldKeyUntil !== null && (oldKeyUntil <= at || oldKeyUntil > at + LONGEST_OVERLAP_DAYS * DAY_MS))
    throw invalidField('oldKeyUntil', 'format', 'must be in the future, by 30 days at most');
  const client = await ctx.db.transaction().execute(async (trx) => {
    // The shop is locked first, in the order of its deletion, which may have just begun.
    const shop = await lockShop(trx, shopId);
    const old = await lockClient(trx, id);
    if (!shop || !old) throw new ServiceError('CLIENT_NOT_FOUND');
    if (old.replacedBy !== null) throw wasReplaced(old.replacedBy, 'replace');
    if (old.revokedAt !== null && oldKeyUntil !== null) throw new ServiceError('CLIENT_REVOKED');
    if (old.revokedAt !== null || oldKeyUntil !== null) await refuseTooMany(trx, shopId, at);
    const keyEnd = Math.min(oldKeyUntil ?? at, old.expiresAt ?? Number.POSITIVE_INFINITY);
    const end = oldKeyUntil === null ? { revoked_at: old.revokedAt ?? at } : { expires_at: keyEnd };
    await updateClient(trx, id, { replaced_by: identity.id, replaced_at: at, ...end });
    // Clients that the old one had replaced point to the new one, too, so that each leads directly to the current one.
    const own = trx.updateTable('api_clients').where('shop_id', '=', shopId);
    await own.set({ replaced_by: identity.id }).where('replaced_by', '=', id).execute();
    const created = await insertClient(trx, {
      ...identity,
      receiver_id: old.receiverId,
      shop_id: shopId,
      name: name ?? old.name,
      webhook_url: webhookUrl === undefined ? old.webhookUrl : webhookUrl,
      rights: old.rights,
      events: old.events,
    });
    const { expiresAt: _, ...changes } = auditedChanges(old, created) ?? {};
    const overlap = oldKeyUntil === null ? {} : { oldKeyUntil: toIso(oldKeyUntil) };
    const data = { replacedBy: created.id, ...overlap, ...changes };
    await recordAudit(trx, { ...about(old), at, actor, action: 'CLIENT_REPLACED', data });
    return { ...created, ...shownOnce };
  });
  ctx.wake('deliveries', client.receiverId);
  return client;
};

// What an Admin does with the API clients of their own shop.

export const EXPIRES_SOON_MS = EXPIRES_SOON_DAYS * DAY_MS;

const keyStatusOf = ({ revokedAt, expiresAt }: ApiClient, nowMs: number): ApiClientView['keyStatus'] => {
  if (revokedAt !== null) return 'REVOKED';
  if (expiresAt === null || expiresAt > nowMs + EXPIRES_SOON_MS) return 'ACTIVE';
  return expiresAt > nowMs ? 'EXPIRES_SOON' : 'EXPIRED';
};

export const viewClient = ({ clock }: Core, client: ApiClient): ApiClientView => ({
  id: client.id,
  name: client.name,
  webhookUrl: client.webhookUrl,
  rights: client.rights.split(',').filter(Boolean) as ApiClientView['rights'],
  events: chosenEvents(client.events) as ApiClientView['events'],
  expiresAt: isoOrNull(client.expiresAt),
  keyStatus: keyStatusOf(client, clock.now()),
  lastUsedAt: isoOrNull(client.lastUsedAt),
  revokedAt: isoOrNull(client.revokedAt),
  replacedBy: client.replacedBy,
  createdAt: toIso(client.createdAt),
});

const viewNewClient = (ctx: Core, { apiKey, webhookSecret, ...client }: NewApiClient) => ({
  ...viewClient(ctx, client),
  apiKey,
  webhookSecret,
});

const findOwnClient = async (ctx: Core, { shop }: Caller, id: string): Promise<ApiClient> => {
  const client = isId(id) ? await findClient(ctx.db, id) : null;
  if (client?.shopId !== shop.id) throw new ServiceError('CLIENT_NOT_FOUND');
  return client;
};

const checkWebhookUrl = async (ctx: WebhookServices, url: string | null | undefined): Promise<void> => {
  const problem = url ? await ctx.addressGuard.urlError(url) : null;
  if (problem) throw invalidField('webhookUrl', 'address', problem);
};

export const listOwnClients = async (ctx: Core, { shop }: Caller) => ({
  items: (await listClients(ctx.db, shop.id)).map((client) => viewClient(ctx, client)),
});

export const createOwnClient = async (
  ctx: WebhookServices,
  { shop, actor }: Caller,
  body: CreateApiClient,
) => {
  await checkWebhookUrl(ctx, body.webhookUrl);
  return viewNewClient(ctx, await createClient(ctx, actor, { shopId: shop.id, ...body }));
};

export const changeOwnClient = async (
  ctx: WebhookServices,
  caller: Caller,
  id: string,
  change: ChangeApiClient,
) => {
  const client = await findOwnClient(ctx, caller, id);
  await checkWebhookUrl(ctx, change.webhookUrl);
  return viewClient(ctx, (await changeClient(ctx, caller.actor, client.id, change)) ?? client);
};

export const revokeOwnClient = async (ctx: Core, caller: Caller, id: string) =>
  viewClient(ctx, await revokeClient(ctx, caller.actor, await findOwnClient(ctx, caller, id)));

export const replaceOwnClient = async (
  ctx: WebhookServices,
  caller: Caller,
  id: string,
  given: ReplaceApiClient,
) => {
  const client = await findOwnClient(ctx, caller, id);
  await checkWebhookUrl(ctx, given.webhookUrl);
  return viewNewClient(ctx, await replaceClient(ctx, caller.actor, client, given));
};

export const listOwnDeliveries = async (
  ctx: WebhookServices,
  caller: Caller,
  id: string,
  query: DeliveryQuery,
) => {
  const client = await findOwnClient(ctx, caller, id);
  return listDeliveriesWithPayloads(ctx, { shopId: caller.shop.id, client }, query);
};

/** Each test event causes up to four signed requests to any public host, so they are limited (docs/contract.md). */
export const TEST_EVENTS: RateWindows = [{ name: 'test-events-minute', points: 10, seconds: 60 }];

export const sendTestEvent = async (ctx: Core, often: RateGate, caller: Caller, id: string) => {
  const client = await findOwnClient(ctx, caller, id);
  if (!isInUse(client) || client.webhookUrl === null) throw new ServiceError('NO_WEBHOOK');
  const { refused, msBeforeNext } = await often(caller.shop.id);
  if (refused) throw rateLimited(msBeforeNext);
  const delivery = await enqueueTest(ctx.db, client.receiverId, ctx.clock.now());
  ctx.wake('deliveries', client.receiverId);
  return viewWithPayload(delivery);
};
