import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { EventPage, EventQuery, LONGEST_WAIT_SECONDS } from '../../contract/event-feed.ts';
import { DEADLINE_MS } from '../http/connection-limits.ts';
import { routesOf, sendJson } from '../http/route.ts';
import type { Core } from '../platform/core.ts';
import { type Caller, mustHaveApi } from '../shops/plans.ts';
import type { FeedWatches } from './follow.ts';

export interface EventServices extends Core {
  feedWatches: FeedWatches;
  authenticate(headers: IncomingHttpHeaders): Promise<Pick<Caller, 'shop'>>;
}

export const eventRoutes = (app: FastifyInstance, ctx: EventServices): void =>
  routesOf(app, { tag: 'Events' })({
    at: 'GET /events',
    operationId: 'listEvents',
    // The longest wait, and as much time as any other response has.
    deadlineMs: LONGEST_WAIT_SECONDS * 1000 + DEADLINE_MS,
    summary: 'Follow the event feed',
    description:
      "Every event of the RMAs that API clients of the shop created, oldest first, whether or not a webhook was sent for it. Each is there exactly once, in the order in which each RMA changed, for 30 days. Pass the response's `cursor` as `after` next time. With `wait` the response comes as soon as there is something new. `types` chooses the events; a page may then have none of them although more follow: see `hasMore`.",
    query: EventQuery,
    response: ['A page of the feed.', EventPage],
    errors: ['CURSOR_EXPIRED'],
    handle: (request, reply) =>
      sendJson(
        reply,
        ctx.feedWatches.follow(request.caller.shop.id, request.query, {
          signal: request.signal,
          async checkAgain() {
            const { shop } = await ctx.authenticate(request.headers);
            mustHaveApi(shop);
          },
        }),
      ),
  });
