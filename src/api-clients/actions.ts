import type { Actor } from '../../contract/common.ts';
import { changesBetween, recordAudit } from '../audit/store.ts';
import type { Context } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { newId } from '../ids.ts';
import { sealWebhookSecret } from '../webhooks/secret.ts';
import { hashOfKey, newApiKey, newWebhookSecret } from './api-key.ts';
import { type ApiClient, insertClient, lockClient, updateClient } from './store.ts';

/** A new client with its key and webhook secret. Both are shown only this once. */
export interface NewApiClient extends ApiClient {
  apiKey: string;
  webhookSecret: string;
}

const about = (client: ApiClient) => ({
  shopId: client.shopId,
  subject: { type: 'CLIENT', id: client.id, name: client.name } as const,
});

export const createClient = async (
  ctx: Context,
  actor: Actor,
  { shopId, name, webhookUrl }: { shopId: string; name: string; webhookUrl: string | null },
): Promise<NewApiClient> => {
  const apiKey = newApiKey();
  const webhookSecret = newWebhookSecret();
  const at = ctx.clock.now();
  const client = await ctx.db.transaction().execute(async (trx) => {
    const id = newId(at);
    const made = await insertClient(trx, {
      id,
      shop_id: shopId,
      name,
      key_hash: hashOfKey(apiKey),
      webhook_url: webhookUrl,
      webhook_secret: sealWebhookSecret(ctx.secrets, id, webhookSecret),
      created_at: at,
    });
    await recordAudit(trx, { ...about(made), at, actor, action: 'CLIENT_CREATED', data: { webhookUrl } });
    return made;
  });
  return { ...client, apiKey, webhookSecret };
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
