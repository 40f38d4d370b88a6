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
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals } from '../http/openapi/route-schemas.ts';
import { sendPage } from '../http/replies.ts';
import {
  changeOwnClient,
  createOwnClient,
  listOwnClients,
  listOwnDeliveries,
  replaceOwnClient,
  revokeOwnClient,
  sendTestEvent,
  TEST_EVENTS,
} from './admin-actions.ts';

const tags = ['API clients'];
const params = z.object({ id: z.string() });
const config = { role: 'ADMIN' } as const;
/** Not for revoking: that is what an Admin does first when a key got out. */
const proof = true as const;
const READ = refusals(400, 401, 403, 404, 503);
const WRITE = refusals(400, 401, 403, 404, 413, 415, 503);

const list = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/clients',
    {
      config,
      schema: {
        operationId: 'listClients',
        summary: "The shop's API clients",
        tags,
        response: { 200: answer('All of them, oldest first.', ApiClientList), ...READ },
      },
    },
    (request) => listOwnClients(ctx, request.caller),
  );
};

const create = (app: ApiApp, ctx: Context): void => {
  app.post(
    '/clients',
    {
      config: { ...config, proof },
      schema: {
        operationId: 'createClient',
        summary: 'Make an API client',
        description:
          'Key and webhook secret are in this answer and nowhere else. A shop has 100 active clients at most.',
        tags,
        body: CreateApiClient,
        response: {
          201: answer('The client, with its key and secret.', NewApiClientView),
          ...WRITE,
          ...refusals(409),
        },
      },
    },
    async (request, reply) => {
      const client = await createOwnClient(ctx, request.caller, request.body);
      return reply.code(201).header('cache-control', 'no-store').send(client);
    },
  );
};

const change = (app: ApiApp, ctx: Context): void => {
  app.patch(
    '/clients/:id',
    {
      config: { ...config, proof },
      schema: {
        operationId: 'changeClient',
        summary: "Change a client's name or webhook URL",
        description: 'What still waits to be sent goes to the new URL. A revoked client cannot be changed.',
        tags,
        params,
        body: ChangeApiClient,
        response: { 200: answer('The client as it is now.', ApiClientView), ...WRITE, ...refusals(409) },
      },
    },
    (request) => changeOwnClient(ctx, request.caller, request.params.id, request.body),
  );
};

const revoke = (app: ApiApp, ctx: Context): void => {
  app.post(
    '/clients/:id/revoke',
    {
      config,
      schema: {
        operationId: 'revokeClient',
        summary: 'Revoke a client',
        description: 'For good: its key fails from the next request on.',
        tags,
        params,
        body: z.strictObject({}).meta({ id: 'RevokeClient' }),
        response: { 200: answer('The client, revoked.', ApiClientView), ...WRITE },
      },
    },
    (request) => revokeOwnClient(ctx, request.caller, request.params.id),
  );
};

const replace = (app: ApiApp, ctx: Context): void => {
  app.post(
    '/clients/:id/replace',
    {
      config: { ...config, proof },
      schema: {
        operationId: 'replaceClient',
        summary: 'Replace a client',
        description:
          'For a key that was lost or exposed: makes a new client and revokes the old one in one step. Events of RMAs that the old one created go to the new one from now on, what still waits included. Key and webhook secret are in this answer and nowhere else.',
        tags,
        params,
        body: ReplaceApiClient,
        response: {
          201: answer('The new client, with its key and secret.', NewApiClientView),
          ...WRITE,
          ...refusals(409),
        },
      },
    },
    async (request, reply) => {
      const client = await replaceOwnClient(ctx, request.caller, request.params.id, request.body);
      return reply.code(201).header('cache-control', 'no-store').send(client);
    },
  );
};

const deliveries = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/clients/:id/deliveries',
    {
      config,
      schema: {
        operationId: 'listDeliveries',
        summary: "A client's webhook deliveries",
        tags,
        params,
        querystring: DeliveryQuery,
        response: { 200: answer('A page of deliveries.', DeliveryList), ...READ },
      },
    },
    (request, reply) =>
      sendPage(reply, listOwnDeliveries(ctx, request.caller, request.params.id, request.query)),
  );
};

const testEvent = (app: ApiApp, ctx: Context): void => {
  const often = ctx.rateGate(TEST_EVENTS, ctx.clock);
  app.post(
    '/clients/:id/test-event',
    {
      config,
      schema: {
        operationId: 'sendTestEvent',
        summary: 'Send a test event',
        description:
          'A `webhook.test`, which is about no RMA, to the client’s webhook URL. At most 10 a minute for a shop.',
        tags,
        params,
        body: z.strictObject({}).meta({ id: 'SendTestEvent' }),
        response: { 201: answer('The delivery, on its way.', Delivery), ...WRITE, ...refusals(409) },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await sendTestEvent(ctx, often, request.caller, request.params.id)),
  );
};

export const apiClientRoutes = (app: ApiApp, ctx: Context): void => {
  for (const route of [list, create, change, revoke, replace, deliveries, testEvent]) route(app, ctx);
};
