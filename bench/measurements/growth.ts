import { serviceWork } from '../contestants.ts';
import type { Measurement, Row } from '../measurement.ts';
import { takeTurns } from '../rounds.ts';

/** How long each piece of work takes in shops of different sizes, one request at a time. */
export const growth: Measurement = {
  name: 'growth',
  engines: ['postgres', 'sqlite'],
  async run(stage) {
    const { engine, effort } = stage;
    const sizes = [...new Set([effort.small, effort.medium, effort.large])];
    const contestants = new Map<string, ReturnType<ReturnType<typeof serviceWork>['get']>>();
    for (const size of sizes) {
      const work = serviceWork(await stage.oneShop(size), 1);
      contestants.set(`create ${size}`, work.createOver());
      contestants.set(`get ${size}`, work.get());
      contestants.set(
        `list ${size}`,
        work.list(() => ''),
      );
      contestants.set(
        `filtered list ${size}`,
        work.list(() => '?status=OFFLINE_REPAIR'),
      );
      contestants.set(`timeline ${size}`, work.get('/timeline'));
    }
    const found = await takeTurns(
      { rounds: effort.rounds, warmUpSeconds: 0, roundSeconds: 1 },
      Object.fromEntries(contestants),
    );
    const msOf = (work: string, size: number): number => found[`${work} ${size}`]?.p50Ms ?? Number.NaN;
    const worked = ['create', 'get', 'list', 'filtered list', 'timeline'];
    const [from, to] = [effort.small, effort.large].map((size) => size.toLocaleString('en'));
    return {
      rows: worked.map(
        (work): Row => ({
          work: `${work}, ${to} RMAs in one shop: p50`,
          engine,
          measured: msOf(work, effort.large),
          unit: 'ms',
          baseline: { name: `at ${from}`, value: msOf(work, effort.small) },
          goal: { bound: 'most', value: 1.3 },
        }),
      ),
      extras: {
        growth: worked.map((work) => ({
          engine,
          work,
          times: sizes.map((rmas) => ({ rmas, ms: msOf(work, rmas) })),
        })),
      },
    };
  },
};
