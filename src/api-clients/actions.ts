import type { Actor } from '../../contract/common.ts';
import { changesBetween, recordAudit } from '../audit/store.ts';
import type { Context } from '../context.ts';
import type { Trx } from '../db/database.ts';
import { retryConflicts } from '../db/errors.ts';
import { ServiceError } from '../errors.ts';
import { newId } from '../ids.ts';
import { lockCounter } from '../shops/counters.ts';
import { lockShop } from '../shops/store.ts';
import { takeOverDeliveries } from '../webhooks/replaced-client.ts';
import { sealWebhookSecret } from '../webhooks/secret.ts';
import { hashOfKey, newApiKey, newWebhookSecret } from './api-key.ts';
import {
  type ApiClient,
  countActiveClients,
  insertClient,
  lockClient,
  type NewClientRow,
  newClientFrom,
  retireClient,
  updateClient,
} from './store.ts';

/** A new client with its key and webhook secret. Both are shown only this once. */
export interface NewApiClient extends ApiClient {
  apiKey: string;
  webhookSecret: string;
}

const about = (client: ApiClient) => ({
  shopId: client.shopId,
  subject: { type: 'CLIENT', id: client.id, name: client.name } as const,
});

/** Active ones of a shop (contract §22). */
const MOST_CLIENTS = 100;

/** Locks the shop: two at once cannot both be the last. */
const refuseTooMany = async (trx: Trx, shopId: string): Promise<void> => {
  await lockShop(trx, shopId);
  if ((await countActiveClients(trx, shopId)) >= MOST_CLIENTS) throw new ServiceError('TOO_MANY_CLIENTS');
};

export const createClient = async (
  ctx: Context,
  actor: Actor,
  { shopId, name, webhookUrl }: { shopId: string; name: string; webhookUrl: string | null },
): Promise<NewApiClient> => {
  const { identity, shownOnce } = newIdentity(ctx);
  const at = identity.created_at;
  const row = { ...identity, shop_id: shopId, name, webhook_url: webhookUrl };
  const client = await ctx.db.transaction().execute(async (trx) => {
    await refuseTooMany(trx, shopId);
    const made = await insertClient(trx, row);
    await recordAudit(trx, { ...about(made), at, actor, action: 'CLIENT_CREATED', data: { webhookUrl } });
    return made;
  });
  return { ...client, ...shownOnce };
};

/** An id, a key and a secret, as they are stored and as they are shown. */
const newIdentity = (ctx: Context) => {
  const shownOnce = { apiKey: newApiKey(), webhookSecret: newWebhookSecret() };
  const created_at = ctx.clock.now();
  const id = newId(created_at);
  const identity = {
    id,
    key_hash: hashOfKey(shownOnce.apiKey),
    webhook_secret: sealWebhookSecret(ctx.secrets, id, shownOnce.webhookSecret),
    created_at,
  };
  return { identity, shownOnce };
};

export const changeClient = (
  ctx: Context,
  actor: Actor,
  id: string,
  { name, webhookUrl }: { name?: string; webhookUrl?: string | null },
): Promise<ApiClient | null> =>
  ctx.db.transaction().execute(async (trx) => {
    const before = await lockClient(trx, id);
    if (before && before.revokedAt !== null) throw new ServiceError('CLIENT_REVOKED');
    if (!before || (name === undefined && webhookUrl === undefined)) return before;
    const after = await updateClient(trx, id, {
      ...(name === undefined ? {} : { name }),
      ...(webhookUrl === undefined ? {} : { webhook_url: webhookUrl }),
    });
    const data = changesBetween(before, after, ['name', 'webhookUrl']);
    if (data)
      await recordAudit(trx, { ...about(after), at: ctx.clock.now(), actor, action: 'CLIENT_CHANGED', data });
    return after;
  });

/** Revokes a client for good, from its next request on. Revoking it again changes nothing. */
export const revokeClient = (ctx: Context, actor: Actor, client: ApiClient): Promise<ApiClient> =>
  ctx.db.transaction().execute(async (trx) => {
    const before = (await lockClient(trx, client.id)) ?? client;
    if (before.revokedAt !== null) return before;
    const at = ctx.clock.now();
    const after = await updateClient(trx, client.id, { revoked_at: at });
    await recordAudit(trx, { ...about(after), at, actor, action: 'CLIENT_REVOKED', data: {} });
    return after;
  });

/**
 * Makes a new client in the place of another, which is revoked: what waits for the old one, and events of RMAs that it
 * created, go to the new one from now on (decisions 153 to 155). What is not given is taken over.
 */
export const replaceClient = async (
  ctx: Context,
  actor: Actor,
  { id, shopId }: ApiClient,
  { name, webhookUrl }: { name?: string | null; webhookUrl?: string | null },
): Promise<NewApiClient> => {
  const { identity, shownOnce } = newIdentity(ctx);
  const at = identity.created_at;
  const replacing = async (trx: Trx) => {
    // Every change of an RMA holds the counter until the commit: its event is on one side of the replacement or the other.
    await lockCounter(ctx, trx, shopId);
    const old = await lockClient(trx, id);
    if (!old) throw new ServiceError('CLIENT_NOT_FOUND');
    if (old.replacedBy !== null) throw alreadyReplaced(old.replacedBy);
    if (old.revokedAt !== null) await refuseTooMany(trx, shopId);
    const row: NewClientRow = {
      ...identity,
      shop_id: shopId,
      name: name ?? old.name,
      webhook_url: webhookUrl === undefined ? old.webhookUrl : webhookUrl,
    };
    await trx.insertInto('api_clients').values(row).execute();
    const made = newClientFrom(row);
    await retireClient(trx, old, made.id, at);
    for (const { statement, values } of takeOverDeliveries(old.id, made.id))
      await trx.executeQuery(ctx.fill(statement, values as never));
    const data = { replacedBy: made.id, ...changesBetween(old, made, ['name', 'webhookUrl']) };
    await recordAudit(trx, { ...about(old), at, actor, action: 'CLIENT_REPLACED', data });
    return made;
  };
  // The dispatcher settles deliveries of the old client at the same time, in another order.
  const client = await retryConflicts(() => ctx.db.transaction().execute(replacing));
  // Not for the new client alone: a look also finds when its retries are due.
  ctx.wake('deliveries', null);
  return { ...client, ...shownOnce };
};

const alreadyReplaced = (by: string): ServiceError =>
  new ServiceError('CLIENT_REPLACED', {
    message: `The client was replaced already: replace the client that took its place, ${by}.`,
  });
