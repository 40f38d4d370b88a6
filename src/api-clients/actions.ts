import type { Context } from '../context.ts';
import { newId } from '../ids.ts';
import { hashOfKey, newApiKey, newWebhookSecret } from './api-key.ts';
import { type ApiClient, insertClient, updateClient } from './store.ts';

/** A new client with its key and webhook secret: the only time either is shown. */
export interface NewApiClient extends ApiClient {
  apiKey: string;
  webhookSecret: string;
}

export const createClient = async (
  ctx: Context,
  { shopId, name, webhookUrl }: { shopId: string; name: string; webhookUrl: string | null },
): Promise<NewApiClient> => {
  const apiKey = newApiKey();
  const webhookSecret = newWebhookSecret();
  const createdAt = ctx.clock.now();
  const client = await insertClient(ctx.db, {
    id: newId(createdAt),
    shop_id: shopId,
    name,
    key_hash: hashOfKey(apiKey),
    webhook_url: webhookUrl,
    webhook_secret: ctx.secrets.seal(webhookSecret),
    created_at: createdAt,
  });
  return { ...client, apiKey, webhookSecret };
};

export const changeClient = (
  ctx: Context,
  id: string,
  { name, webhookUrl }: { name?: string; webhookUrl?: string | null },
): Promise<ApiClient | null> =>
  updateClient(ctx.db, id, {
    ...(name === undefined ? {} : { name }),
    ...(webhookUrl === undefined ? {} : { webhook_url: webhookUrl }),
  });

/** For good, from the next request on; revoking again changes nothing. */
export const revokeClient = async (ctx: Context, client: ApiClient): Promise<ApiClient> =>
  (client.revokedAt === null && (await updateClient(ctx.db, client.id, { revoked_at: ctx.clock.now() }))) ||
  client;
