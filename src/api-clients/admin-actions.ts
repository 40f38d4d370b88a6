import type { z } from 'zod';
import type {
  ApiClientView,
  ChangeApiClient,
  CreateApiClient,
  DeliveryQuery,
  ReplaceApiClient,
} from '../../contract/admin.ts';
import { isId } from '../../contract/common.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { RateGate, RateWindows } from '../db/database.ts';
import { rateLimited, ServiceError } from '../errors.ts';
import { instant } from '../instant.ts';
import { listDeliveriesWithPayloads, viewWithPayload } from '../webhooks/deliveries.ts';
import { enqueueTest } from '../webhooks/outbox.ts';
import { changeClient, createClient, type NewApiClient, replaceClient, revokeClient } from './actions.ts';
import { type ApiClient, findClient, listClients } from './store.ts';

// What an Admin does with the API clients of their own shop.

const instantOrNull = (ms: number | null): string | null => (ms === null ? null : instant(ms));

const viewClient = (client: ApiClient): ApiClientView => ({
  id: client.id,
  name: client.name,
  webhookUrl: client.webhookUrl,
  lastUsedAt: instantOrNull(client.lastUsedAt),
  revokedAt: instantOrNull(client.revokedAt),
  replacedBy: client.replacedBy,
  createdAt: instant(client.createdAt),
});

const viewNewClient = ({ apiKey, webhookSecret, ...client }: NewApiClient) => ({
  ...viewClient(client),
  apiKey,
  webhookSecret,
});

/** A client of the caller's shop. Another shop's client is a 404. */
const ownClient = async (ctx: Context, { shop }: Caller, id: string): Promise<ApiClient> => {
  const client = isId(id) ? await findClient(ctx.db, id) : null;
  if (client?.shopId !== shop.id) throw new ServiceError('CLIENT_NOT_FOUND');
  return client;
};

const checkWebhookUrl = async (ctx: Context, url: string | null | undefined): Promise<void> => {
  const fault = url ? await ctx.addressGuard.faultOf(url) : null;
  if (!fault) return;
  const message = `webhookUrl ${fault}`;
  throw new ServiceError('VALIDATION_FAILED', {
    faults: [{ field: 'webhookUrl', rule: 'address', message }],
  });
};

export const listOwnClients = async (ctx: Context, { shop }: Caller) => ({
  items: (await listClients(ctx.db, shop.id)).map(viewClient),
});

export const createOwnClient = async (
  ctx: Context,
  { shop, actor }: Caller,
  body: z.infer<typeof CreateApiClient>,
) => {
  await checkWebhookUrl(ctx, body.webhookUrl);
  return viewNewClient(await createClient(ctx, actor, { shopId: shop.id, ...body }));
};

export const changeOwnClient = async (
  ctx: Context,
  caller: Caller,
  id: string,
  { name, webhookUrl }: z.infer<typeof ChangeApiClient>,
) => {
  const client = await ownClient(ctx, caller, id);
  await checkWebhookUrl(ctx, webhookUrl);
  const change = {
    ...(name === undefined ? {} : { name }),
    ...(webhookUrl === undefined ? {} : { webhookUrl }),
  };
  return viewClient((await changeClient(ctx, caller.actor, client.id, change)) ?? client);
};

export const revokeOwnClient = async (ctx: Context, caller: Caller, id: string) =>
  viewClient(await revokeClient(ctx, caller.actor, await ownClient(ctx, caller, id)));

export const replaceOwnClient = async (
  ctx: Context,
  caller: Caller,
  id: string,
  { name, webhookUrl }: z.infer<typeof ReplaceApiClient>,
) => {
  const client = await ownClient(ctx, caller, id);
  await checkWebhookUrl(ctx, webhookUrl);
  const given = { name, ...(webhookUrl === undefined ? {} : { webhookUrl }) };
  return viewNewClient(await replaceClient(ctx, caller.actor, client, given));
};

export const listOwnDeliveries = async (
  ctx: Context,
  caller: Caller,
  id: string,
  query: z.infer<typeof DeliveryQuery>,
) => {
  const client = await ownClient(ctx, caller, id);
  return listDeliveriesWithPayloads(ctx, { shopId: caller.shop.id, clientId: client.id }, query);
};

/** Each makes up to four signed requests to any public host: not a flood in our name (contract §22). */
export const TEST_EVENTS: RateWindows = [{ name: 'test-events-minute', points: 10, seconds: 60 }];

/** Sends an event without an RMA. It is delivered, retried and shown like any other. */
export const sendTestEvent = async (ctx: Context, often: RateGate, caller: Caller, id: string) => {
  const client = await ownClient(ctx, caller, id);
  if (client.revokedAt !== null || client.webhookUrl === null) throw new ServiceError('NO_WEBHOOK');
  const { refused, msBeforeNext } = await often(caller.shop.id);
  if (refused) throw rateLimited(msBeforeNext);
  const delivery = await enqueueTest(ctx.db, client.id, ctx.clock.now());
  ctx.wake('deliveries', client.id);
  return viewWithPayload(delivery);
};
