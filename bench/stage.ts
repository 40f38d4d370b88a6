import { fileURLToPath } from 'node:url';
import { baselineRepair, baselineShop, fillBaseline } from './baselines/tables.ts';
import { startChild } from './children.ts';
import { type Databases, openDatabases, type TestDatabase } from './databases.ts';
import type { Effort } from './effort.ts';
import type { Engine } from './engines.ts';
import { type SeededRmas, type SeededShop, seedRmas, seedShops } from './seed.ts';
import { type Service, startService } from './service.ts';
import { type Ear, startEar } from './webhooks/ear.ts';
import { type Receivers, startReceivers } from './webhooks/receivers.ts';
import { startSilence } from './webhooks/silence.ts';

// What measurements of one engine share: databases, services and baselines, each made when the first one asks for it.

const BASELINE = fileURLToPath(new URL('./baselines/server.ts', import.meta.url));
export const MANY_SHOPS = 1_000;
const FEW_SHOPS = 20;
const RECEIVERS = 100;
const NEAR_RECEIVERS = 20;
const ANSWERS_ONLY: Record<Engine, Record<string, string>> = { postgres: { ROLE: 'api' }, sqlite: {} };

export interface House {
  database: TestDatabase;
  service: Service;
  rmas: SeededRmas;
}

export interface WebhookHouse extends House {
  receivers: Receivers;
  /** Shops whose events go to those receivers, one each. */
  away: SeededShop[];
  ear: Ear;
  /** Shops whose events come to this process. */
  near: SeededShop[];
}

export interface Baseline {
  url: string;
  shop(n: number): string;
  /** The n-th repair of the first shop, from 1. */
  repair(n: number): string;
  repairs: number;
  /** Behind these, repairs of a few other shops, for moves. */
  moving: { repairs: number; shopOf(n: number): string };
}

export interface Stage {
  engine: Engine;
  effort: Effort;
  databases(): Promise<Databases>;
  baseline(): Promise<Baseline>;
  /**
   * 1,000 shops, each with a client that wants events, which are written down and stay: on PostgreSQL the process sends
   * none, on SQLite, where it must, the receiver takes the connection and never answers.
   */
  manyShops(): Promise<House>;
  /** One shop with so many RMAs. */
  oneShop(rmas: number, tradeReturns?: number): Promise<House>;
  /** A few shops with ordinary RMAs, for what one of them does to the others. */
  fewShops(): Promise<House>;
  /** The same with clients that want events, which are written down and stay, as with many shops. */
  movingShops(): Promise<House>;
  /** A service with 100 receivers in a process of their own, some of our own, and shops that have none. */
  webhooks(): Promise<WebhookHouse>;
  close(): Promise<void>;
}

export const openStage = (engine: Engine, effort: Effort): Stage => {
  const ends: (() => Promise<void>)[] = [];
  const made = new Map<string, Promise<unknown>>();
  const once = <Thing>(name: string, make: () => Promise<Thing>): Promise<Thing> => {
    const thing = made.get(name) ?? make();
    made.set(name, thing);
    return thing as Promise<Thing>;
  };
  const onClose = (end: () => Promise<void>) => void ends.unshift(end);

  const databases = () =>
    once('databases', async () => {
      const opened = await openDatabases(engine);
      onClose(opened.close);
      return opened;
    });
  const house = async (
    name: string,
    shops: number,
    rmas: number,
    webhookUrl: string | null = null,
    more: Record<string, string> = {},
    tradeReturns?: number,
  ): Promise<House> => {
    const database = await (await databases()).create(name);
    const seeded = await seedRmas(
      database,
      await seedShops(database, shops, () => webhookUrl),
      rmas,
      tradeReturns,
    );
    const service = await startService(database, more);
    onClose(service.stop);
    return { database, service, rmas: seeded };
  };

  const silent = async (name: string, shops: number, rmas: number): Promise<House> => {
    const silence = await startSilence();
    onClose(silence.close);
    return house(name, shops, rmas, silence.url, ANSWERS_ONLY[engine]);
  };

  return {
    engine,
    effort,
    databases,
    baseline: () =>
      once('baseline', async () => {
        const database = await (await databases()).create('baseline');
        await fillBaseline(database, MANY_SHOPS, effort.medium, {
          shops: FEW_SHOPS,
          repairs: effort.small,
        });
        const child = await startChild(
          process.execPath,
          [BASELINE, engine, database.address],
          /listening on \d+/,
        );
        onClose(child.stop);
        const port = /listening on (\d+)/.exec(child.said())?.[1];
        return {
          url: `http://127.0.0.1:${port}`,
          shop: baselineShop,
          repair: baselineRepair,
          repairs: effort.medium,
          moving: {
            repairs: effort.small,
            shopOf: (n) => baselineShop(2 + (n % FEW_SHOPS)),
          },
        };
      }),
    manyShops: () => once('many shops', () => silent('many_shops', MANY_SHOPS, effort.medium)),
    movingShops: () => once('moving shops', () => silent('moving_shops', FEW_SHOPS, effort.small)),
    oneShop: (rmas, tradeReturns) =>
      once(`one shop of ${rmas} ${tradeReturns}`, () =>
        house(`one_shop_${rmas}_${tradeReturns ?? 'few'}`, 1, rmas, null, {}, tradeReturns),
      ),
    fewShops: () => once('few shops', () => house('few_shops', FEW_SHOPS, effort.small)),
    webhooks: () =>
      once('webhooks', async () => {
        const receivers = await startReceivers(RECEIVERS);
        onClose(receivers.stop);
        const ear = await startEar();
        onClose(ear.close);
        const database = await (await databases()).create('webhooks');
        const away = await seedShops(database, RECEIVERS, (i) => receivers.urls[i] as string);
        const near = await seedShops(database, NEAR_RECEIVERS, () => ear.url);
        const rmas = await seedRmas(
          database,
          await seedShops(database, MANY_SHOPS, () => null),
          effort.small,
        );
        const service = await startService(database);
        onClose(service.stop);
        return { database, service, rmas, receivers, away, ear, near };
      }),
    async close() {
      for (const end of ends) await end();
    },
  };
};
