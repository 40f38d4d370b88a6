import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  ApiClientList,
  ApiClientView,
  ChangeApiClient,
  CreateApiClient,
  Delivery,
  DeliveryList,
  DeliveryQuery,
  NewApiClientView,
  ReplaceApiClient,
} from '../../contract/admin.ts';
import { routesOf, sendPage } from '../http/route.ts';
import type { WebhookServices } from '../webhooks/services.ts';
import {
  changeOwnClient,
  createOwnClient,
  listOwnClients,
  listOwnDeliveries,
  replaceOwnClient,
  revokeOwnClient,
  sendTestEvent,
  TEST_EVENTS,
} from './actions.ts';

/** Revoking asks for no proof: that is what an Admin does first when a key was exposed. */
export const apiClientRoutes = (app: FastifyInstance, ctx: WebhookServices): void => {
  const route = routesOf(app, { tag: 'API clients', role: 'ADMIN' });
  route({
    at: 'GET /clients',
    operationId: 'listClients',
    summary: "List the shop's API clients",
    response: ['All of them, oldest first.', ApiClientList],
    handle: ({ caller }) => listOwnClients(ctx, caller),
  });
  route({
    at: 'POST /clients',
    operationId: 'createClient',
    proof: true,
    shopLimit: 'clients',
    summary: 'Create an API client',
    description:
      'Key and webhook secret are in this response and nowhere else. A shop has 100 active clients at most.',
    body: CreateApiClient,
    response: ['The client, with its key and secret.', NewApiClientView],
    status: 201,
    errors: [409],
    handle: ({ caller, body }) => createOwnClient(ctx, caller, body),
  });
  route({
    at: 'PATCH /clients/:id',
    operationId: 'changeClient',
    proof: true,
    shopLimit: 'clients',
    summary: "Change a client's name, webhook URL, rights, events or expiry",
    description:
      'Pending deliveries go to the new URL. Rights and expiry count from the next request on, chosen events from the next change of a return. A revoked or replaced client cannot be changed.',
    body: ChangeApiClient,
    response: ['The client as it is now.', ApiClientView],
    errors: [409],
    handle: ({ caller, params, body }) => changeOwnClient(ctx, caller, params.id, body),
  });
  route({
    at: 'POST /clients/:id/revoke',
    operationId: 'revokeClient',
    summary: 'Revoke a client',
    description: 'This is permanent: its key fails from the next request on.',
    body: z.strictObject({}).meta({ id: 'RevokeClient' }),
    response: ['The client, revoked.', ApiClientView],
    handle: ({ caller, params }) => revokeOwnClient(ctx, caller, params.id),
  });
  route({
    at: 'POST /clients/:id/replace',
    operationId: 'replaceClient',
    proof: true,
    shopLimit: 'clients',
    summary: 'Replace a client',
    description:
      'For a key that was lost or exposed, or is changed from time to time: creates a new client with the same rights and events and revokes the old one in one step; with `oldKeyUntil` the old key works until then. Events of RMAs that the old one created go to the new one from now on, pending deliveries included. Key and webhook secret are in this response and nowhere else.',
    body: ReplaceApiClient,
    response: ['The new client, with its key and secret.', NewApiClientView],
    status: 201,
    errors: [409],
    handle: ({ caller, params, body }) => replaceOwnClient(ctx, caller, params.id, body),
  });
  deliveryRoutes(app, ctx);
};

const deliveryRoutes = (app: FastifyInstance, ctx: WebhookServices): void => {
  const route = routesOf(app, { tag: 'API clients', role: 'ADMIN' });
  const often = ctx.rateGate(TEST_EVENTS, ctx.clock);
  route({
    at: 'GET /clients/:id/deliveries',
    operationId: 'listDeliveries',
    summary: "List a client's webhook deliveries",
    query: DeliveryQuery,
    response: ['A page of deliveries.', DeliveryList],
    handle: ({ caller, params, query }, reply) =>
      sendPage(reply, listOwnDeliveries(ctx, caller, params.id, query)),
  });
  route({
    at: 'POST /clients/:id/test-event',
    operationId: 'sendTestEvent',
    summary: 'Send a test event',
    description:
      'A `webhook.test`, which is about no RMA, to the client’s webhook URL. At most 10 a minute for a shop.',
    body: z.strictObject({}).meta({ id: 'SendTestEvent' }),
    response: ['The delivery, on its way.', Delivery],
    status: 201,
    errors: [409],
    handle: ({ caller, params }) => sendTestEvent(ctx, often, caller, params.id),
  });
};
