import type { FastifyInstance } from 'fastify';
import {
  WebhookDeliveryList,
  WebhookDeliveryQuery,
  WebhookDeliveryWithBody,
} from '../../contract/delivery.ts';
import { routesOf, sendPage } from '../http/route.ts';
import { getDelivery, listDeliveries } from './deliveries.ts';
import type { WebhookServices } from './services.ts';

export const deliveryRoutes = (app: FastifyInstance, ctx: WebhookServices): void => {
  const route = routesOf(app, { tag: 'Deliveries' });
  route({
    at: 'GET /deliveries',
    operationId: 'listDeliveries',
    summary: "List the client's webhook deliveries",
    description:
      'What was and will be sent to the webhook URL of the client whose key this is, in the last 30 days, newest first. Filters combine. Nothing is sent again: what was missed is in the event feed.',
    query: WebhookDeliveryQuery,
    response: ['A page of deliveries.', WebhookDeliveryList],
    handle: ({ caller, query }, reply) => sendPage(reply, listDeliveries(ctx, caller, query)),
  });
  route({
    at: 'GET /deliveries/:id',
    operationId: 'getDelivery',
    summary: 'Read a webhook delivery',
    description: 'With the body as it was sent, to check a signature against.',
    response: ['The delivery as it stands now.', WebhookDeliveryWithBody],
    errors: ['DELIVERY_NOT_FOUND'],
    handle: ({ caller, params }) => getDelivery(ctx, caller, params.id),
  });
};
