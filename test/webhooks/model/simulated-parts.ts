import type { Context } from '../../../src/service/context.ts';
import { EXCHANGE_TIMEOUT_MS, SLOW_MS } from '../../../src/webhooks/policy.ts';
import { pause } from '../../../src/webhooks/worker/own-time.ts';
import type { Sender } from '../../../src/webhooks/worker/send.ts';
import { type Settler, settle } from '../../../src/webhooks/worker/settle.ts';
import { aroundQueries } from './around-queries.ts';
import type { Behaviour, Exchange, Process } from './things.ts';
import type { World } from './world.ts';

// What stands in the dispatcher for the network, and for the batching of results.

/** Writes each result at once, by the real statement. */
export const createSimulatedSettler = (
  world: World,
  { time }: Process,
  ctx: Context,
): Pick<Settler, 'add' | 'giveUp'> => {
  let giveUp = (): void => {};
  const givenUp = new Promise<false>((resolve) => {
    giveUp = () => resolve(false);
  });
  const settling = aroundQueries(ctx.webhooks, { after: async () => world.onSettled() });
  const write = async (settlement: Parameters<Settler['add']>[0]): Promise<true> => {
    await pause(time, 0);
    await settle({ ...ctx, webhooks: settling }, [settlement]);
    return true;
  };
  return { add: (settlement) => Promise.race([write(settlement), givenUp]), giveUp: () => giveUp() };
};

/** Receivers answer as they behave when the request comes. */
export const createSimulatedSender = (world: World, process: Process): Sender => {
  const underWay = new Set<() => void>();
  return {
    send: ({ url, id, attempt }) =>
      new Promise((resolve) => {
        const receiver = world.ground.receivers.findIndex((each) => each.url === url);
        const about = { deliveryId: id, receiver, process, attempt, startedAt: world.nowMs };
        const exchange: Exchange = { ...about, endedAt: null, acknowledged: false, abandoned: false };
        world.exchanges.push(exchange);
        const name = `${process.name} → receiver ${receiver}, ${id.slice(-4)}, attempt ${attempt}`;
        world.tell(name);
        world.onStart(exchange);
        const { afterMs, statusCode } = answerOf(world, world.behaviours[receiver] as Behaviour);
        const end = (outcome: { statusCode: number | null; error: string | null } | null): void => {
          cancel();
          underWay.delete(abandon);
          exchange.endedAt = world.nowMs;
          exchange.acknowledged = outcome?.statusCode === 200;
          exchange.abandoned = outcome === null;
          world.tell(`${name}: ${outcome ? (outcome.statusCode ?? outcome.error) : 'broken off'}`);
          resolve(outcome);
        };
        const abandon = () => end(null);
        const error = statusCode === null ? 'no answer' : null;
        const cancel = process.time.after(afterMs, () => end({ statusCode, error }));
        underWay.add(abandon);
      }),
    close: async () => {
      for (const abandon of underWay) abandon();
    },
  };
};

const answerOf = (world: World, behaviour: Behaviour): { afterMs: number; statusCode: number | null } => {
  // Most answer at once.
  const afterMs = 1 + world.upTo([10, 10, 10, 200][world.upTo(3)] as number);
  if (behaviour === 'hangs') return { afterMs: EXCHANGE_TIMEOUT_MS, statusCode: null };
  if (behaviour === 'refuses') return { afterMs: 1, statusCode: null };
  if (behaviour === 'dawdles') return { afterMs: SLOW_MS + world.upTo(3_000), statusCode: 200 };
  return { afterMs, statusCode: behaviour === 'fails' ? 500 : 200 };
};
