import type { Context } from '../../context.ts';
import { moveDeliveries } from '../replaced-client.ts';
import type { InFlight } from './in-flight.ts';
import type { Due } from './queue.ts';
import type { Receiver } from './receivers.ts';

/** Hands what waits for replaced clients over to those that took their place; returns what is still to be sent. */
export const createReplacedFilter =
  (ctx: Context, inFlight: InFlight) =>
  async (deliveries: Due[], receivers: ReadonlyMap<string, Receiver>): Promise<Due[]> => {
    const replacementOf = ({ clientId }: Due) => receivers.get(clientId)?.replacedBy ?? null;
    const moves = new Map(deliveries.map((delivery) => [delivery.clientId, replacementOf(delivery)]));
    for (const [from, to] of moves) {
      if (to === null) continue;
      const count = await moveDeliveries(ctx, { from, to, underWay: inFlight.unsettledOf(from) });
      ctx.log.info({ clientId: from, replacedBy: to, count }, 'webhooks handed over to the new client');
      // Not for this client alone: a look also finds when its retries are due.
      ctx.wake('deliveries', null);
    }
    return deliveries.filter((delivery) => replacementOf(delivery) === null);
  };
