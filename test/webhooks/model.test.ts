import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../src/api-clients/actions.ts';
import { openContext } from '../../src/app/context.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { readConfig } from '../../src/platform/config.ts';
import { createShop } from '../../src/shops/actions.ts';
import { POOL_LIMITS, type PoolLimits } from '../../src/webhooks/policy.ts';
import { freshDatabase } from '../support/harness.ts';
import { scaled } from '../support/until.ts';
import { commandsFor, type Model } from './model/commands.ts';
import { Onlooker } from './model/onlooker.ts';
import { type Ground, World } from './model/world.ts';

// A model of docs/architecture.md, "The dispatcher", against the real dispatcher. Several processes, each with a dispatcher of its
// own, share one real SQLite database; time, receivers and the delay of each statement are simulated, so a run of minutes
// takes some 40 ms. The real statements and not a small store in their place: leases, due times and the count of attempts are kept by
// SQL, and that is where two processes meet. Simulated besides: the batching of results (settle.ts has timers of its own).
//
// Half of the runs have the real limits, where no receiver lacks room and every retry must come within a tight bound; half have limits so
// small that the pools fill up. A process that sleeps has an own clock that stood still; the shared clock is right when it
// returns.
//
// MODEL_RUNS says how many runs. A failing run prints its commands and all that happened. To replay it, set TEST_SEED, MODEL_PATH
// and MODEL_REPLAY to the seed, path and replayPath that it printed.

const RUNS = Number(process.env['MODEL_RUNS'] ?? 100);
const PATH = process.env['MODEL_PATH'];
const REPLAY_PATH = process.env['MODEL_REPLAY'];
const RECEIVERS = 8;

/** So small that a few receivers fill them. */
const SMALL: PoolLimits = { perReceiver: 2, healthy: 4, unhealthy: 5 };

const prepareGround = async (): Promise<Ground> => {
  const database = await freshDatabase();
  const env = { ...database.env, WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true', LOG_LEVEL: 'silent' };
  const ctx = await openContext(readConfig(env));
  onTestFinished(async () => {
    await ctx.close();
    await database.drop();
  });
  const shop = await createShop(ctx, OPERATOR, { name: 'Test shop', plan: 'SCALE' });
  const receivers = [];
  for (let i = 0; i < RECEIVERS; i++) {
    const webhookUrl = `http://127.0.0.1:${1000 + i}/`;
    const { id } = await createClient(ctx, OPERATOR, { shopId: shop.id, name: `R${i}`, webhookUrl });
    receivers.push({ id, url: webhookUrl });
  }
  return { ctx, receivers };
};

const clear = async ({ ctx }: Ground): Promise<void> => {
  await ctx.webhooks.deleteFrom('webhook_deliveries').execute();
  await ctx.webhooks.deleteFrom('webhook_leases').execute();
  await ctx.webhooks.deleteFrom('webhook_failures').execute();
};

/** Time enough for all that can wait: each receiver's deliveries, a few at a time, four attempts of 10 s each and the waits. */
const LONG_ENOUGH_MS = 30 * 60 * 1000;

const finish = async (world: World, onlooker: Onlooker): Promise<void> => {
  for (const process of world.processes) if (process.state === 'asleep') world.return(process);
  if (world.awake.length === 0) await world.start();
  const giveUpAt = world.nowMs + LONG_ENOUGH_MS;
  while (!onlooker.allEnded && world.nowMs < giveUpAt) {
    await world.simulation.advance(10_000, () => onlooker.allEnded || onlooker.isBroken);
    await onlooker.compare();
  }
  if (!onlooker.allEnded) throw new Error('some deliveries never ended');
  // Until the last retry timer has gone off.
  await world.simulation.advance(30_000, () => onlooker.isBroken);
  for (const { name, dispatcher } of world.awake)
    if (dispatcher.receivers.size > 0)
      throw new Error(`${name} still remembers ${dispatcher.receivers.size} receivers`);
};

it('the dispatcher behaves like the model, whatever happens to processes and receivers', {
  timeout: scaled(3_600_000),
}, async () => {
  const ground = await prepareGround();
  const property = fc.asyncProperty(
    fc.integer(),
    fc.constantFrom('real', 'small'),
    fc.commands(commandsFor(RECEIVERS), {
      maxCommands: 40,
      size: 'medium',
      ...(REPLAY_PATH === undefined ? {} : { replayPath: REPLAY_PATH }),
    }),
    async (latencySeed, limits, commands) => {
      await clear(ground);
      const onlooker = new Onlooker();
      const world = new World(ground, limits === 'real' ? POOL_LIMITS : SMALL, latencySeed, () =>
        onlooker.timePassed(),
      );
      onlooker.watch(world);
      const model: Model = { events: 0, processes: [] };
      try {
        await fc.asyncModelRun(() => ({ model, real: { world, onlooker } }), commands);
        await finish(world, onlooker);
      } catch (error) {
        throw new Error([(error as Error).message, ...world.history].join('\n'), { cause: error });
      }
    },
  );
  await fc.assert(property, {
    numRuns: RUNS,
    ...(PATH === undefined ? {} : { path: PATH }),
  });
});

it('a retry follows directly after a failure that takes long to record', async () => {
  const ground = await prepareGround();
  const world = new World(ground, POOL_LIMITS, 1, () => {});
  const COUNTED_AFTER_MS = 1_500;
  world.delayOf = (statement) => (statement.includes('into webhook_failures') ? COUNTED_AFTER_MS : 0);
  world.behave(0, 'refuses');
  await world.start();
  await world.enqueue(0);
  await world.simulation.advance(10_000);
  const [first, second] = world.exchanges;
  const waitMs = (second?.startedAt ?? Number.POSITIVE_INFINITY) - (first?.endedAt ?? 0);
  expect(waitMs).toBeGreaterThanOrEqual(COUNTED_AFTER_MS);
  expect(waitMs).toBeLessThan(COUNTED_AFTER_MS + 500);
});

it('a process that sleeps past its lease while reading the queue does not send what it has read', async () => {
  const ground = await prepareGround();
  const world = new World(ground, POOL_LIMITS, 1, () => {});
  const attempts = () => world.exchanges.map(({ attempt }) => attempt);
  world.behave(0, 'refuses');
  await world.start();
  await world.enqueue(0);
  world.delayOf = (statement) => (statement.includes('webhook_deliveries as due') ? 2_000 : 0);
  await world.simulation.advance(1_000);
  world.delayOf = () => 0;
  const [sleeper] = world.awake;
  if (!sleeper) throw new Error('no process');
  world.sleep(sleeper);
  await world.start();
  await world.simulation.advance(60_000, () => attempts().length === 3);
  world.return(sleeper);
  // By the time with which it reads, the last retry is further ahead than any can be.
  await world.simulation.advance(15_000);
  expect(attempts()).toEqual([1, 2, 3]);
  await world.simulation.advance(2_000);
  expect(attempts()).toEqual([1, 2, 3, 4]);
});
