import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { CreateOfflineRepair } from '../../contract/offline-repair.ts';
import { CreateTradeReturn } from '../../contract/trade-return.ts';
import { snapshotOf } from '../../src/db/open.ts';
import { offlineRepairs, tradeReturns } from '../../src/returns/actions.ts';
import { readConfig } from '../../src/service/config.ts';
import { openContext } from '../../src/service/context.ts';
import { emptyOn } from '../support/backups.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { ENGINE } from '../support/harness.ts';
import {
  type Env,
  launch,
  lookInto,
  type ServerProcess,
  startServer,
  temporaryFolder,
} from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { addShops } from '../support/shops.ts';
import { onlyIf } from '../support/tools.ts';
import { until } from '../support/until.ts';

// The way from SQLite to PostgreSQL with many returns, under load. `npm run test:backup` makes it; the suite has the same on a
// small scale in test/faults/backup-under-load.test.ts.

const RMAS = Number(process.env['BACKUP_RMAS'] ?? 0);
const WRITERS = 4;
const MINUTES = 60_000;

type Made = Awaited<ReturnType<typeof addShops>>[number];

/** By the service's own actions, in this process: HTTP would take several times as long. */
const fill = async (env: Env, { shop, client }: Made): Promise<void> => {
  const ctx = await openContext(readConfig({ ...env, PORT: '0' }), { log: pino({ level: 'silent' }) });
  const caller = { shop, actor: { type: 'API_CLIENT' as const, id: client.id, name: client.name } };
  /** No two alike: otherwise they would take hardly any room in the file. */
  const own = (i: number) => ({
    externalRef: `POS-${i}`,
    customerEmail: `customer-${i % 30_000}@example.com`,
    faultDescription: randomBytes(90).toString('base64'),
  });
  let left = RMAS;
  const create = async () => {
    for (let i = left--; i > 0; i = left--)
      await (i % 4 === 0
        ? tradeReturns.create(ctx, caller, CreateTradeReturn.parse(tradeBody(own(i))))
        : offlineRepairs.create(ctx, caller, CreateOfflineRepair.parse(repairBody(own(i)))));
  };
  await Promise.all(Array.from({ length: 200 }, create));
  await ctx.close();
};

/** Runs a command and gives what it printed, how long it took and how much memory it had at most. */
const measured = async (args: string[], env: Env) => {
  const start = performance.now();
  const { child, out, ended } = launch([...args, '--json'], env);
  let isOver = false;
  ended.then(() => {
    isOver = true;
  });
  let peakMb = 0;
  while (!isOver) {
    const [, kilobytes = '0'] = /VmHWM:\s+(\d+)/.exec(procStatus(child.pid)) ?? [];
    peakMb = Math.max(peakMb, Math.round(Number(kilobytes) / 1024));
    await pause(20);
  }
  expect({ ...(await ended), stderr: out.stderr }).toMatchObject({ status: 0, stderr: '' });
  return { ...JSON.parse(out.stdout), wallSeconds: (performance.now() - start) / 1000, peakMb };
};

const procStatus = (pid: number | undefined): string => {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
};

const write = async (server: ServerProcess, isOver: () => boolean, acknowledged: string[]) => {
  while (!isOver()) {
    const { status, body } = await server.post('/offline-repairs', repairBody());
    if (status !== 201) continue;
    acknowledged.push(body.id);
    await server.post(`/offline-repairs/${body.id}/close`);
  }
};

/** What names a row, and what tells that it has changed since. */
const KEYS: Record<string, { key: string[]; version?: string }> = {
  shops: { key: ['id'] },
  users: { key: ['id'] },
  audit_log: { key: ['id'] },
  events: { key: ['id'] },
  timeline: { key: ['rma_id', 'at'] },
  offline_repairs: { key: ['id'], version: 'updated_at' },
  trade_returns: { key: ['id'], version: 'updated_at' },
  webhook_deliveries: { key: ['id'], version: 'attempts' },
};

const rowsOf = (env: Env, table: string) => {
  const { key, version } = KEYS[table] as (typeof KEYS)[string];
  return snapshotOf(readConfig(env))(async (reading) => {
    const columns = ((await reading.tables()).get(table) ?? []).sort();
    const rows = new Map<string, { version: unknown; row: string }>();
    for await (const values of reading.rows(table, columns)) {
      const of = (name: string) => values[columns.indexOf(name)];
      rows.set(key.map(of).join(), {
        version: version ? of(version) : null,
        row: JSON.stringify(values.map(String)),
      });
    }
    return rows;
  });
};

/** Every row of the copy is in the original, the same in each column unless it was changed after the backup. */
const compare = async (original: Env, copy: Env): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const table of Object.keys(KEYS)) {
    const [there, here] = [await rowsOf(original, table), await rowsOf(copy, table)];
    const isStrange = ([key, { row, version }]: [string, { row: string; version: unknown }]) => {
      const same = there.get(key);
      return !same || (same.version === version && same.row !== row);
    };
    const strange = [...here].filter(isStrange).filter(([, { row }]) => !row.includes('"RESTORED"'));
    expect(strange.slice(0, 3), table).toEqual([]);
    counts[table] = here.size;
  }
  return counts;
};

it('a backup of many returns under load goes from SQLite into PostgreSQL', {
  ...onlyIf(RMAS > 0 && ENGINE === 'postgres', 'npm run test:backup makes it'),
  timeout: 60 * MINUTES,
}, async () => {
  const allowed = { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };
  const source: Env = { ...(await emptyOn('sqlite')), ...allowed };
  const target: Env = { ...(await emptyOn('postgres')), ...allowed };
  const receiver = await startReceiver(() => undefined);
  const [made, hooked] = await addShops(source, 2, (i) => (i === 1 ? receiver.url : null));
  await fill(source, made as Made);
  const key = (made as Made).client.apiKey;
  const server = await startServer(source, { key });
  const waiting = await server.post('/offline-repairs', repairBody(), {
    key: hooked?.client.apiKey ?? null,
  });
  await receiver.got(1);
  const acknowledged: string[] = [];
  let isOver = false;
  const writers = Array.from({ length: WRITERS }, () => write(server, () => isOver, acknowledged));
  await until('something is written', () => acknowledged.length >= 20);
  const { body: latest } = await server.get('/events?after=latest');
  const [before, soFar] = [[...acknowledged], acknowledged.length];
  const file = join(temporaryFolder(), 'drill.backup');
  const backup = await measured(['backup', file], source);
  const writtenMeanwhile = acknowledged.length - soFar;
  isOver = true;
  await Promise.all(writers);
  await server.stop();

  const restored = await measured(['restore', file], target);
  const compared = await compare(source, target);
  expect(restored.tables).toEqual(backup.tables);
  expect(writtenMeanwhile).toBeGreaterThan(0);
  const db = lookInto(target);
  for (const id of before)
    expect(
      await db.selectFrom('offline_repairs').select('id').where('id', '=', id).executeTakeFirst(),
    ).toEqual({ id });

  receiver.behave(() => 200);
  const next = await startServer(target, { key });
  const sent = await until('the webhook has come', () =>
    receiver.received.slice(1).find(({ body }) => body.data.id === waiting.body.id),
  );
  expect(sent.bytes).toEqual(receiver.received[0]?.bytes);
  const { body: usage } = await next.get('/usage');
  expect(usage.used).toBeGreaterThanOrEqual(RMAS + soFar);
  const events = await db
    .selectFrom('events')
    .select('id')
    .where('shop_id', '=', (made as Made).shop.id)
    .orderBy('position')
    .execute();
  const seen: string[] = [];
  for (let cursor = latest.cursor, hasMore = true; hasMore; ) {
    const { status, body } = await next.get(`/events?limit=100&after=${cursor}`);
    expect(status).toBe(200);
    seen.push(...body.items.map((item: { id: string }) => item.id));
    [cursor, hasMore] = [body.cursor, body.hasMore];
  }
  expect(seen).toEqual(events.slice(-seen.length || events.length).map(({ id }) => id));
  expect((await next.post('/offline-repairs', repairBody())).status).toBe(201);
  const doctor = await measured(['doctor'], target);
  expect(doctor.ok, JSON.stringify(doctor.checks)).toBe(true);
  const figures = ({ seconds, rows, peakMb, bytes }: Awaited<ReturnType<typeof measured>>) => ({
    ...{ seconds, rows, peakMb, bytes },
  });
  process.stdout.write(
    `${JSON.stringify({
      sqliteBytes: statSync(join(source['DATA_DIR'] ?? '', 'handback.sqlite')).size,
      backup: figures(backup),
      restore: figures(restored),
      doctor: { seconds: doctor.wallSeconds, peakMb: doctor.peakMb },
      writtenMeanwhile,
      compared,
      seenAfterCursor: seen.length,
    })}\n`,
  );
});
