import { z } from 'zod';
import { ErrorBody } from '../../contract/common.ts';
import {
  WebhookDeliveryList,
  WebhookDeliveryQuery,
  WebhookDeliveryWithBody,
} from '../../contract/delivery.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { type ApiApp, answer, refusals } from '../http/openapi/route-schemas.ts';
import { sendPage } from '../http/replies.ts';
import { getDelivery, listDeliveries } from './deliveries.ts';

const tags = ['Deliveries'];

/** Programs see their own deliveries alone. */
const clientOf = ({ actor }: Caller): string => actor.id ?? '';

const list = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/deliveries',
    {
      schema: {
        operationId: 'listDeliveries',
        summary: "List the client's webhook deliveries",
        description:
          'What was and will be sent to the webhook URL of the client whose key this is, in the last 30 days, newest first. Filters combine. Nothing is sent again: what was missed is in the event feed.',
        tags,
        querystring: WebhookDeliveryQuery,
        response: {
          200: answer('A page of deliveries.', WebhookDeliveryList),
          ...refusals(400, 401, 403, 429, 503),
        },
      },
    },
    ({ caller, query }, reply) =>
      sendPage(reply, listDeliveries(ctx, { shopId: caller.shop.id, clientId: clientOf(caller) }, query)),
  );
};

const read = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/deliveries/:id',
    {
      schema: {
        operationId: 'getDelivery',
        summary: 'Read a webhook delivery',
        description: 'With the body as it was sent, to check a signature against.',
        tags,
        params: z.object({ id: z.string() }),
        response: {
          200: answer('The delivery as it stands now.', WebhookDeliveryWithBody),
          ...refusals(400, 401, 403, 429, 503),
          404: answer('The client has no such delivery.', ErrorBody),
        },
      },
    },
    ({ caller, params }) => getDelivery(ctx, clientOf(caller), params.id),
  );
};

export const deliveryRoutes = (app: ApiApp, ctx: Context): void => {
  list(app, ctx);
  read(app, ctx);
};
