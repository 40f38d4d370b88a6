import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { signIn } from '../../support/admin-process.ts';
import { askedProcess } from '../../support/asked-process.ts';
import { effort, FULL, measured } from '../../support/faults.ts';
import { scaled } from '../../support/machine.ts';
import { fillDatabase, type LoadedShop, mixedLoad, readAll } from '../../support/mixed-load.ts';
import { lookInto, migratedDatabase, startServer } from '../../support/process.ts';
import { startReceiver } from '../../support/receiver.ts';
import { addPerson, addShops } from '../../support/shops.ts';
import { growthPerHour, type Sample, secondAndLastFifth } from '../../support/steady.ts';
import { onlyIf } from '../../support/tools.ts';
import { until } from '../../support/until.ts';

const SOAK_MS = effort(8_000, 600_000);
/** Caches fill, and V8 settles on the size of its heap. */
const WARM_UP_MS = 0.3 * SOAK_MS;
const SAMPLE_EVERY_MS = effort(1_000, 15_000);
const SHOPS = 4;
/** Of each caller: 20 requests a second in all. */
const REQUEST_EVERY_MS = 200;

// What flat means, said before anything was measured: the last fifth lies at most a tenth above the second, and by its slope after the
// warm-up an hour would add less than this. Memory is looked at once V8 has given back what it can: before, it tells of V8's mood only.
const MOST_RISE = 1.1;
const MOST_GROWTH_MB = 20;
const MOST_GROWTH_FILES = 10;

interface Memory {
  inUseMb: number;
  residentMb: number;
}

const LOOKS = 10;

/** The fewest that it had open in this time: a leak raises them, sockets of requests under way do not. */
const fewestFiles = async (pid: number, withinMs: number): Promise<number> => {
  let fewest = Number.POSITIVE_INFINITY;
  for (let look = 0; look < LOOKS; look++) {
    fewest = Math.min(fewest, readdirSync(`/proc/${pid}/fd`).length);
    await pause(withinMs / LOOKS);
  }
  return fewest;
};

const expectFlat = (what: string, samples: Sample[], mostGrowth = Number.POSITIVE_INFINITY): string => {
  const settled = samples.filter(({ atMs }) => atMs >= WARM_UP_MS);
  const growth = growthPerHour(settled);
  const [second, last] = secondAndLastFifth(samples);
  const figure = `${what} ${second.toFixed(0)} → ${last.toFixed(0)} (${growth.toFixed(1)} an hour)`;
  expect(last, figure).toBeLessThanOrEqual(second * MOST_RISE);
  expect(growth, figure).toBeLessThan(mostGrowth);
  return figure;
};

// How much memory and how many files a process has is read from /proc.
it(`${SOAK_MS / 1000} s of mixed load leave nothing behind`, {
  ...onlyIf(process.platform === 'linux', 'reads /proc'),
  timeout: scaled(SOAK_MS + 300_000),
}, async () => {
  const env = { ...(await migratedDatabase()), WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };
  // Three that acknowledge, one of them after a failure now and then, and one that always fails.
  const receivers = await Promise.all(
    Array.from({ length: SHOPS }, (_, i) =>
      startReceiver((n) => (i === 3 || (i === 2 && n % 10 === 0) ? 500 : 200)),
    ),
  );
  const made = await addShops(env, SHOPS, (i) => receivers[i]?.url ?? null);
  const { env: watched, ask } = askedProcess<Memory>('tell-memory', 'TEST_MEMORY_FILE');
  let server = await startServer({ ...env, LOG_LEVEL: 'warn', ...(FULL ? {} : watched) });
  const shops: LoadedShop[] = [];
  for (const { shop, client } of made)
    shops.push({ key: client.apiKey, admin: await signIn(server, await addPerson(env, shop.id)) });
  if (FULL) {
    await fillDatabase(server, shops, 1_000);
    // What is measured has a process of its own: filling leaves a large heap behind.
    await server.stop();
    server = await startServer({ ...env, LOG_LEVEL: 'warn', ...watched });
    await readAll(server, shops);
  }

  const inUse: Sample[] = [];
  const resident: Sample[] = [];
  const files: Sample[] = [];
  const startedAt = performance.now();
  const isOver = () => performance.now() - startedAt > SOAK_MS;
  const watch = async () => {
    while (!isOver()) {
      const atMs = performance.now() - startedAt;
      const { inUseMb, residentMb } = await ask(server);
      inUse.push({ atMs, value: inUseMb });
      resident.push({ atMs, value: residentMb });
      files.push({ atMs, value: await fewestFiles(server.pid, SAMPLE_EVERY_MS) });
      // What the receivers remember is of no use here.
      for (const { received } of receivers) received.length = 0;
    }
  };
  const [{ requests, failed }] = await Promise.all([
    mixedLoad(server, shops, REQUEST_EVERY_MS, isOver),
    watch(),
  ]);
  expect(failed).toEqual([]);
  const db = lookInto(env);
  const waiting = () =>
    db.selectFrom('webhook_deliveries').select('id').where('status', '=', 'PENDING').execute();
  // Attempts come at 0, 1, 5 and 21 s; in short nobody waits for those that fail all four.
  if (FULL) await until('the outbox is empty', async () => (await waiting()).length === 0, 60_000);
  const { length: events } = await db.selectFrom('events').select('id').execute();
  expect(events).toBeGreaterThan(requests / 4);
  // A few seconds say nothing of an hour.
  if (FULL) {
    const figures = [
      expectFlat('MB in use', inUse, MOST_GROWTH_MB),
      expectFlat('MB held', resident),
      expectFlat('file descriptors', files, MOST_GROWTH_FILES),
    ];
    measured(18, `${requests} requests, 0 failed; ${events} events, outbox empty; ${figures.join('; ')}`);
  }
  expect((await server.stop()).status).toBe(0);
  expect(server.stderr).not.toMatch(/Error|^ +at /m);
});
