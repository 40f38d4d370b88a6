import { EventPage, EventQuery, LONGEST_WAIT_SECONDS } from '../../contract/event-feed.ts';
import type { Context } from '../context.ts';
import { DEADLINE_MS } from '../http/deadline.ts';
import { hangUpOf } from '../http/hang-up.ts';
import { type ApiApp, answer, refusals } from '../http/openapi/route-schemas.ts';
import { sendJson } from '../http/replies.ts';
import { mustHaveApi } from '../shops/plans.ts';
import { followFeed } from './follow.ts';

/** The longest wait, and as much time as any other answer has. */
const WAITING_DEADLINE_MS = LONGEST_WAIT_SECONDS * 1000 + DEADLINE_MS;

export const eventRoutes = (app: ApiApp, ctx: Context): void => {
  app.get(
    '/events',
    {
      config: { deadlineMs: WAITING_DEADLINE_MS },
      schema: {
        operationId: 'listEvents',
        summary: 'Follow the event feed',
        description:
          "Every event of the RMAs that programs of the shop created, oldest first, whether or not a webhook was sent for it. Each is there exactly once, in the order in which each RMA changed, for 30 days. Pass the answer's `cursor` as `after` next time. With `wait` the answer comes as soon as there is something new.",
        tags: ['Events'],
        querystring: EventQuery,
        response: {
          200: answer('A page of the feed.', EventPage),
          ...refusals(400, 401, 403, 410, 429, 503),
        },
      },
    },
    async (request, reply) => {
      const page = await followFeed(ctx, request.caller.shop.id, request.query, {
        signal: hangUpOf(reply),
        async checkAgain() {
          const { shop } = await ctx.authenticate(request.headers);
          mustHaveApi(shop);
        },
      });
      await sendJson(reply, page);
    },
  );
};
