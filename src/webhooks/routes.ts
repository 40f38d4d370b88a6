import type { FastifyInstance } from 'fastify';
import {
  WebhookDeliveryList,
  WebhookDeliveryQuery,
  WebhookDeliveryWithBody,
} from '../../contract/delivery.ts';
import { routesOf, sendPage } from '../http/route.ts';
import { getDelivery, listDeliveries } from './deliveries.ts';
import type { WebhookServices } from './services.ts';

export const clientDeliveryRoutes = (app: FastifyInstance, ctx: WebhookServices): void => {
  const route = routesOf(app, { tag: 'Deliveries' });
  route({
    at: 'GET /deliveries',
    operationId: 'listDeliveries',
    summary: "List the client's webhook deliveries",
    description:
      'Past and pending deliveries to the webhook URL of the client whose key this is, from the last 30 days, newest first. Filters combine. Nothing is sent again: missed events are in the event feed.',
    query: WebhookDeliveryQuery,
    response: ['A page of deliveries.', WebhookDeliveryList],
    handle: ({ caller, query }, reply) => sendPage(reply, listDeliveries(ctx, caller, query)),
  });
  route({
    at: 'GET /deliveries/:id',
    operationId: 'getDelivery',
    summary: 'Read a webhook delivery',
    description: 'Includes the exact body, against which a signature can be checked.',
    response: ['The current state of the delivery.', WebhookDeliveryWithBody],
    errors: ['DELIVERY_NOT_FOUND'],
    handle: ({ caller, params }) => getDelivery(ctx, caller, params.id),
  });
};
