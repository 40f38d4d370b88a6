import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { type Answer, ENGINE } from '../support/harness.ts';
import {
  cli,
  type Env,
  emptyDatabase,
  lookInto,
  migratedDatabase,
  run,
  type ServerProcess,
  startServer,
} from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { addClient, makeShop } from '../support/shops.ts';
import { wholeTables } from '../support/whole-tables.ts';

// Every release that was kept runs on the schema of today, beside the code of today: in a rolling upgrade both answer at once, and
// one may go back. A migration that takes something away, renames it or makes it stricter fails here.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const KEPT = join(ROOT, 'test', 'releases');
const RELEASES = readdirSync(KEPT).filter((name) => name.endsWith('.tgz'));
const PASSWORD = 'a password of a person';
const EMAIL = 'ada@shop.example';

/** Below the project, so that the packages it was not built with are found. */
const unpack = (release: string): string => {
  const folder = mkdtempSync(join(ROOT, 'dist', 'earlier-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync('tar', ['-xzf', join(KEPT, release), '-C', folder]);
  return join(folder, 'handback.js');
};

const must = (status: number, answer: Answer): Answer['body'] => {
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  return answer.body;
};

/** A little of everything that a till does; every call of the six fires one event. */
const workOn = async (server: ServerProcess, key: string) => {
  const post = async (status: number, path: string, body?: object) =>
    must(status, await server.post(path, body, { key }));
  const { id } = await post(201, '/offline-repairs', repairBody({ externalRef: 'POS-1' }));
  await post(200, `/offline-repairs/${id}/tracking`, { trackingNumber: 'T-1', carrierName: 'Post' });
  await post(200, `/offline-repairs/${id}/begin-repair`, { assignedToId: 'tech-1' });
  await post(200, `/offline-repairs/${id}/resolve`, { offlineDisposition: 'WRITE_OFF' });
  await post(200, `/offline-repairs/${id}/close`);
  const trade = await post(201, '/trade-returns', tradeBody());
  return { repair: id as string, trade: trade.id as string, events: 6 };
};

/** Everything that can be read of what was made, by programs and by staff. */
const readFrom = async (server: ServerProcess, key: string, made: { repair: string; trade: string }[]) => {
  const get = async (path: string) => must(200, await server.get(path, { key }));
  const paths = [
    ...made.flatMap(({ repair, trade }) => [
      `/offline-repairs/${repair}`,
      `/offline-repairs/${repair}/timeline`,
      `/trade-returns/${trade}`,
    ]),
    ...['/offline-repairs?externalRef=POS-1', '/trade-returns', '/usage', '/events?limit=100'],
  ];
  const signedIn = await server.post('/admin/api/session', { email: EMAIL, password: PASSWORD });
  must(200, signedIn);
  const cookie = signedIn.headers.get('set-cookie')?.replace(/;.*/, '') ?? '';
  for (const path of ['overview', 'clients', 'users', 'offline-repairs?q=kettle', 'trade-returns'])
    must(200, await server.get(`/admin/api/${path}`, { headers: { cookie } }));
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await get(path)])));
};

it.each(RELEASES)(
  '%s works on the schema of today, beside the code of today',
  { timeout: 180_000 },
  async (release) => {
    const program = unpack(release);
    const receiver = await startReceiver();
    const database = await migratedDatabase();
    const env: Env = { ...database, WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };
    const { shopId } = await makeShop(env, { plan: 'ENTERPRISE' });
    const { apiKey } = await addClient(env, shopId, { webhookUrl: receiver.url });
    await cli(['user', 'create', '--shop', shopId, '--email', EMAIL, '--role', 'ADMIN'], env, PASSWORD);

    // One after the other on SQLite, which is for one process.
    const isAlone = ENGINE === 'sqlite';
    const servers: ServerProcess[] = [];
    const made: Awaited<ReturnType<typeof workOn>>[] = [];
    for (const options of [{}, { program }, {}, { program }]) {
      if (isAlone) await servers.at(-1)?.stop();
      const server = await startServer(env, options);
      servers.push(server);
      made.push(await workOn(server, apiKey));
      const seen = await readFrom(server, apiKey, made);
      expect(seen['/events?limit=100'].items).toHaveLength(made.reduce((sum, { events }) => sum + events, 0));
      if (!isAlone)
        for (const other of servers.slice(0, -1)) expect(await readFrom(other, apiKey, made)).toEqual(seen);
    }

    const events = made.reduce((sum, each) => sum + each.events, 0);
    const received = await receiver.got(events, 30_000);
    expect(new Set(received.map(({ headers }) => headers['x-webhook-id'])).size).toBe(events);

    // Both command lines read the same, and the earlier one finds nothing to migrate.
    const read = async (options: object) =>
      (await run(['client', 'list', '--shop', shopId, '--json'], env, options)).json;
    expect(await read({ program })).toEqual(await read({}));
    expect(await run(['migrate', '--json'], env, { program })).toMatchObject({ status: 0 });
  },
);

const columnsOf = async (env: Env) =>
  (await wholeTables(lookInto(env))).flatMap((table) =>
    table.columns.map((column) => ({ ...column, table: table.name, name: `${table.name}.${column.name}` })),
  );

it.each(RELEASES)(
  '%s finds every table and column that it made, and may leave out the others',
  async (release) => {
    const env = await emptyDatabase();
    expect(await run(['migrate'], env, { program: unpack(release) })).toMatchObject({ status: 0 });
    const earlier = await columnsOf(env);
    const today = new Map((await columnsOf(await migratedDatabase())).map((column) => [column.name, column]));
    expect(earlier.length).toBeGreaterThan(100);
    const changed = earlier.filter(
      ({ name, dataType, isNullable }) =>
        today.get(name)?.dataType !== dataType || (isNullable && !today.get(name)?.isNullable),
    );
    expect(changed.map(({ name }) => name)).toEqual([]);

    const [tables, names] = (['table', 'name'] as const).map(
      (of) => new Set(earlier.map((each) => each[of])),
    );
    const required = [...today.values()].filter(
      ({ table, name, isNullable, hasDefaultValue }) =>
        tables?.has(table) && !names?.has(name) && !isNullable && !hasDefaultValue,
    );
    expect(required.map(({ name }) => name)).toEqual([]);
  },
);

it('at least one release is kept', () => {
  expect(RELEASES.length).toBeGreaterThan(0);
});
