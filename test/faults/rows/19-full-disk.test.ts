// engines: sqlite, postgres

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { repairBody } from '../../support/bodies.ts';
import { doctor } from '../../support/doctor.ts';
import { ONLY_POSTGRES, ONLY_SQLITE } from '../../support/engines.ts';
import { expectUnavailable, measured } from '../../support/faults.ts';
import { newAddress } from '../../support/http.ts';
import { onServer } from '../../support/postgres-databases.ts';
import { NOBODY, startPostgres } from '../../support/postgres-server.ts';
import {
  databaseOn,
  type Env,
  fullAfter,
  lookInto,
  run,
  type ServerProcess,
  startServer,
  temporaryFolder,
  withOwnTimeLimits,
} from '../../support/process.ts';
import { atOnce } from '../../support/responses.ts';
import { makeShop } from '../../support/shops.ts';
import { scaled, until } from '../../support/until.ts';

withOwnTimeLimits();

/** A file system that is full but for so many megabytes, until the test frees some; null where none may be mounted. */
const smallDisk = (roomMb: number) => {
  if (process.env['TEST_TOOLS'] === 'none') return null;
  const folder = temporaryFolder();
  const heldMb = 64;
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${roomMb + heldMb}m`, 'tmpfs', folder], {
      stdio: 'ignore',
      timeout: scaled(10_000),
    });
  } catch {
    return null;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder], { timeout: scaled(10_000) }));
  const held = join(folder, 'held');
  writeFileSync(held, Buffer.alloc(heldMb * 1024 ** 2));
  const room = join(folder, 'room');
  mkdirSync(room);
  // Only root may mount, and then PostgreSQL runs as another user.
  chownSync(room, NOBODY, NOBODY);
  return { folder: room, free: () => rmSync(held) };
};

/** Text that does not compress. */
const NOTES = randomBytes(2500).toString('hex');
const BODY = repairBody({ notes: NOTES, faultDescription: NOTES });

/** Creates until the disk is full, and returns what was acknowledged. */
const fillUp = async (server: ServerProcess): Promise<string[]> => {
  const acknowledged: string[] = [];
  await until(
    'the disk is full',
    async () => {
      const responses = await atOnce(20, () => server.post('/offline-repairs', BODY));
      // A checkpoint may make room again behind a batch that found none: full is what has none for a single repair either.
      if (responses.some(({ status }) => status !== 201))
        responses.push(await server.post('/offline-repairs', BODY));
      for (const { status, body } of responses) if (status === 201) acknowledged.push(body.id);
      const refused = responses.filter(({ status }) => status !== 201);
      for (const response of refused) expectUnavailable(response);
      return refused.length > 0 && responses.at(-1) === refused.at(-1);
    },
    60_000,
  );
  expect(acknowledged.length).toBeGreaterThan(10);
  expect(await server.get('/healthz')).toHaveStatus(200);
  return acknowledged;
};

/** Every read gets its response, also from an address that never called before. */
const expectReads = async (server: ServerProcess): Promise<void> => {
  for (let i = 0; i < 300; i++)
    for (const path of ['/usage', '/offline-repairs?limit=1']) {
      const response = await server.get(path, { ip: newAddress('10.77') });
      expect(response).toHaveStatus(200);
      expect(response.headers.get('ratelimit-limit')).toBe('200');
    }
};

/** Everything acknowledged is stored, nothing else is, and the totals match. */
const expectWhole = async (env: Env, acknowledged: string[]): Promise<void> => {
  const db = lookInto(env);
  const rows = await db.selectFrom('offline_repairs').select(['id', 'notes']).execute();
  expect(rows.map(({ id }) => id).sort()).toEqual(acknowledged.toSorted());
  expect(rows.every(({ notes }) => notes === NOTES)).toBe(true);
  const { month_used } = await db.selectFrom('shop_counters').select('month_used').executeTakeFirstOrThrow();
  expect(month_used).toBe(acknowledged.length);
  for (const table of ['events', 'timeline'] as const)
    expect(await db.selectFrom(table).select('id').execute()).toHaveLength(acknowledged.length);
};

it(
  'a full disk under SQLite causes 503s, and the service recovers when there is space',
  ONLY_SQLITE,
  async () => {
    const env = { DATA_DIR: temporaryFolder() };
    const { key } = await makeShop(env);
    // Blocks are 512 or 1024 bytes, as the shell has it: room for the schema and some dozen repairs either way.
    const server = await startServer(env, { key, shell: fullAfter(4000) });
    const acknowledged = await fillUp(server);
    await expectReads(server);
    expect((await doctor(env, (args) => run(args, env, { shell: fullAfter(1) })))['writes']).toMatchObject({
      state: 'wrong',
      message: expect.stringMatching(/is the disk full/),
    });
    expect((await server.stop()).status).toBe(0);

    const again = await startServer(env, { key });
    await expectWhole(env, acknowledged);
    expect((await again.get('/offline-repairs')).body.total).toBe(acknowledged.length);
    expect(await again.post('/offline-repairs', BODY)).toHaveStatus(201);
    const check = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(lookInto(env));
    expect(check.rows).toEqual([{ integrity_check: 'ok' }]);
    measured(19, `full disk: 503, all ${acknowledged.length} acknowledged repairs kept, integrity_check ok`);
  },
);

it(
  'a full disk under PostgreSQL causes 503s, and the service recovers when there is space',
  ONLY_POSTGRES,
  async ({ skip }) => {
    const disk = smallDisk(12);
    if (!disk) return skip('no right to mount a file system');
    const postgres = await startPostgres();
    onTestFinished(postgres.stop);
    await onServer(postgres.url, `create tablespace small location '${disk.folder}'`);
    const env = await databaseOn(postgres, 'tablespace small');
    const { key } = await makeShop(env);
    const server = await startServer(env, { key });
    const acknowledged = await fillUp(server);
    expect(server.stdout).toContain('"code":"53100"');
    expectUnavailable(await server.get('/readyz'));
    await expectReads(server);
    expect((await doctor(env))['writes']).toMatchObject({
      state: 'wrong',
      message: expect.stringContaining("the server's disk is full"),
    });

    disk.free();
    await until('it is ready again', server.isReady);
    expect((await doctor(env))['writes']?.state).toBe('ok');
    const { body } = await until('it creates again', async () => {
      const response = await server.post('/offline-repairs', BODY);
      return response.status === 201 ? response : null;
    });
    await expectWhole(env, [...acknowledged, body.id]);
    measured(19, `full disk: 503, all ${acknowledged.length} acknowledged repairs kept`);
  },
);
