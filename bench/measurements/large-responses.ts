import { setTimeout as pause } from 'node:timers/promises';
import { BASE_PATH } from '../../contract/common.ts';
import { newId } from '../../src/lib/ids.ts';
import { tradeBody } from '../../test/support/bodies.ts';
import { percentile } from '../figures.ts';
import { type GreedyOrder, startGreedy } from '../load/greedy.ts';
import { type TrickleFigures, trickle } from '../load/trickle.ts';
import type { Measurement, Row } from '../measurement.ts';
import { creation, type Request, reading } from '../requests.ts';
import { type SeededShop, within } from '../seed.ts';
import type { House } from '../stage.ts';

// What one shop that reads its largest pages without a pause, or hardly reads what it asked for, does to the others.

const LARGE_RETURNS = 100;
const NOTES = 1_300;
const REPAIRS = `${BASE_PATH}/offline-repairs`;
const RETURNS = `${BASE_PATH}/trade-returns`;
const WATCH_EVERY_MS = 100;
/** Idle and busy in turns, so that a slow moment of the machine falls on both. About 1,100 requests of each kind. */
const ROUNDS = 3;
const SECONDS = 4;

interface Case {
  work: string;
  order(pages: { list: string; timeline: string }): Pick<GreedyOrder, 'paths' | 'callers' | 'slowReaders'>;
}
const CASES: Case[] = [
  {
    work: '4 callers list 23 MB without a pause',
    order: ({ list }) => ({ paths: [list], callers: 4, slowReaders: 0 }),
  },
  {
    work: '8 callers read timelines of 26 MB',
    order: ({ timeline }) => ({ paths: [timeline], callers: 8, slowReaders: 0 }),
  },
  {
    work: '4 callers and 60 slow readers of 23 MB',
    order: ({ list }) => ({ paths: [list], callers: 4, slowReaders: 60 }),
  },
];

export const largeResponses: Measurement = {
  name: 'large-responses',
  engines: ['postgres', 'sqlite'],
  async run(stage) {
    const { engine } = stage;
    const house = await stage.fewShops();
    const [greedy, ...others] = house.rmas.shops as [SeededShop, ...SeededShop[]];
    const pages = await makeLarge(house, greedy);
    const { url } = house.service;
    const kinds = usualRequests(house, others);
    await trickle(url, kinds, SECONDS);
    const rows: Row[] = [];
    for (const { work, order } of CASES) {
      const idle: TrickleFigures = { times: {}, health: [], failures: [] };
      const busy: TrickleFigures = { times: {}, health: [], failures: [] };
      let mostMb = 0;
      let said = '';
      for (let round = 0; round < ROUNDS; round++) {
        add(idle, await trickle(url, kinds, SECONDS));
        const child = await startGreedy({ url, key: greedy.apiKey, ...order(pages) });
        const memory = watch(house);
        add(busy, await trickle(url, kinds, SECONDS));
        mostMb = Math.max(mostMb, memory.stop());
        await child.stop();
        said += child.said();
      }
      tell(work, engine, said, idle, busy);
      rows.push(
        ...Object.keys(kinds).map(
          (kind): Row => ({
            work: `p99 of other shops' ${kind} while ${work}`,
            engine,
            measured: percentile(busy.times[kind] ?? [], 0.99),
            unit: 'ms',
            baseline: { name: 'idle', value: percentile(idle.times[kind] ?? [], 0.99) },
            goal: { bound: 'most', value: 5 },
          }),
        ),
        {
          work: `slowest /healthz while ${work}`,
          engine,
          measured: Math.max(...busy.health),
          unit: 'ms',
          goal: { bound: 'most', value: 500 },
        },
        {
          work: `memory while ${work}`,
          engine,
          measured: mostMb,
          unit: 'MB',
          goal: { bound: 'most', value: 400 },
        },
      );
    }
    return { rows };
  },
};

const add = (all: TrickleFigures, round: TrickleFigures): void => {
  for (const [kind, times] of Object.entries(round.times))
    all.times[kind] = [...(all.times[kind] ?? []), ...times];
  all.health.push(...round.health);
  all.failures.push(...round.failures);
};

const keyOf = ({ apiKey }: SeededShop) => ({ 'x-api-key': apiKey });

let addresses = 0;
/** From an address that nobody has called from yet. */
const afresh = (request: Request): Request => {
  addresses += 1;
  const address = `12.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
  return { ...request, headers: { ...request.headers, 'x-forwarded-for': address } };
};

const usualRequests = ({ rmas }: House, others: SeededShop[]): Record<string, (i: number) => Request> => {
  const shop = (i: number) => others[i % others.length] as SeededShop;
  const foreign = Array.from({ length: 500 }, (_, i) => i + 1).filter((n) => others.includes(rmas.shopOf(n)));
  return {
    gets(i) {
      const n = foreign[i % foreign.length] as number;
      return afresh(reading(`${REPAIRS}/${rmas.idOf(n)}`, keyOf(rmas.shopOf(n))));
    },
    lists: (i) => afresh(reading(REPAIRS, keyOf(shop(i)))),
    creations: (i) => afresh(creation(REPAIRS, keyOf(shop(i)), i)),
  };
};

/** A hundred returns of 230 kB, and a timeline of 26 MB. */
const makeLarge = async (
  { database, service }: House,
  shop: SeededShop,
): Promise<{ list: string; timeline: string }> => {
  const item = {
    sku: 'S'.repeat(128),
    productName: 'P'.repeat(255),
    variantTitle: 'V'.repeat(255),
    tradeLineItemId: 'L'.repeat(128),
    quantity: 4,
    price: 120.5,
  };
  const body = JSON.stringify(tradeBody({ items: Array.from({ length: 250 }, () => item) }));
  let last = '';
  for (let i = 0; i < LARGE_RETURNS; i++) {
    const { headers } = afresh(reading('', keyOf(shop)));
    const response = await fetch(service.url + RETURNS, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    });
    last = ((await response.json()) as { id: string }).id;
  }
  await within(database, async ({ db }) => {
    const at = Date.now() + 1000;
    const note = '\u{1F4E6}'.repeat(5000);
    for (let i = 0; i < NOTES; i++)
      await db
        .insertInto('timeline')
        .values({
          rma_id: last,
          at: at + i,
          id: newId(at + i),
          type: 'NOTE_ADDED',
          actor_type: 'SYSTEM',
          actor_id: null,
          actor_name: 'bench',
          from_status: null,
          to_status: null,
          note,
          data: '{}',
        })
        .execute();
  });
  return { list: `${RETURNS}?limit=100`, timeline: `${RETURNS}/${last}/timeline` };
};

/** Looks again and again how much memory the service has. */
const watch = ({ service }: House): { stop(): number } => {
  let most = 0;
  let over = false;
  const look = async () => {
    while (!over) {
      most = Math.max(most, service.memoryMb());
      await pause(WATCH_EVERY_MS);
    }
  };
  void look();
  return {
    stop() {
      over = true;
      return most;
    },
  };
};

const tell = (
  work: string,
  engine: string,
  said: string,
  idle: TrickleFigures,
  busy: TrickleFigures,
): void => {
  const responses = new Map<string, number>();
  for (const line of said.split('\n').filter((each) => each && each !== 'under way'))
    responses.set(line, (responses.get(line) ?? 0) + 1);
  const pages = [...responses].map(([response, count]) => `${count} × ${response}`).join(', ');
  process.stdout.write(`${engine}, ${work}: ${pages || 'no page'}; failures ${busy.failures.length}\n`);
  for (const failure of busy.failures.slice(0, 3)) process.stdout.write(`  ${failure.slice(0, 200)}\n`);
  for (const [name, { times }] of Object.entries({ idle, busy }))
    for (const [kind, all] of Object.entries(times))
      process.stdout.write(
        `  ${name} ${kind}: ${all.length}, p50 ${percentile(all, 0.5).toFixed(1)}, p99 ${percentile(all, 0.99).toFixed(1)} ms\n`,
      );
};
