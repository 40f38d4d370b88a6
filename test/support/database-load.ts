import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { repairBody } from './bodies.ts';
import type { Answer } from './http.ts';
import { onServer } from './postgres-databases.ts';
import type { PostgresServer } from './postgres-server.ts';
import { type Env, lookInto, SECRET_KEY, type ServerProcess, timed } from './process.ts';
import { until } from './until.ts';

// Creations without end while a test does something to the database, and what must hold of them afterwards.

/** An empty database on a server of the test's own. */
export const databaseOn = async (postgres: PostgresServer): Promise<Env> => {
  const name = `load_${randomBytes(4).toString('hex')}`;
  await onServer(postgres.url, `create database ${name}`);
  return { DATABASE_URL: postgres.url.replace(/\/postgres$/, `/${name}`), SECRET_KEY };
};

/** The same database on several servers. */
export const onHosts = (env: Env, servers: { url: string }[], attributes = 'read-write'): Env => {
  const { pathname } = new URL(env['DATABASE_URL'] as string);
  const hosts = servers.map(({ url }) => new URL(url).host).join(',');
  const url = `postgres://postgres@${hosts}${pathname}?target_session_attrs=${attributes}`;
  return { ...env, DATABASE_URL: url };
};

/** Between a refusal and the next try of the same caller. */
const REST_MS = 20;

interface Seen {
  status: number;
  ms: number;
  endedAt: number;
}

export interface Load {
  answers: Seen[];
  /** Number by id of what was answered with 201. */
  acknowledged: Map<string, string>;
  /** Resolves when so many more are acknowledged. */
  more(count: number, withinMs?: number): Promise<void>;
  /** Resolves with the next answer of this kind. */
  next(status: number, withinMs?: number): Promise<Seen>;
  end(): Promise<void>;
}

/** Callers create, each one order after another, and send an order again until it is acknowledged. Readers read these paths. */
export const startLoad = (
  server: ServerProcess,
  { callers = 8, paths = [] }: { callers?: number; paths?: string[] } = {},
): Load => {
  const answers: Seen[] = [];
  const acknowledged = new Map<string, string>();
  let isOver = false;
  const ask = async (request: () => Promise<Answer>): Promise<Answer> => {
    const { value, ms } = await timed(request);
    answers.push({ status: value.status, ms, endedAt: performance.now() });
    if (value.status >= 400) await pause(REST_MS);
    return value;
  };
  const order = async (key: string): Promise<void> => {
    const headers = { 'idempotency-key': key };
    const { status, body } = await ask(() => server.post('/offline-repairs', repairBody(), { headers }));
    if (status === 201) acknowledged.set(body.id, body.rmaNumber);
    else await order(key);
  };
  const call = async (_: unknown, caller: number): Promise<void> => {
    for (let i = 0; !isOver; i++) await order(`order-${caller}-${i}`);
  };
  const read = async (path: string): Promise<void> => {
    while (!isOver) await ask(() => server.get(path));
  };
  const calling = [...Array.from({ length: callers }, call), ...paths.map(read)];
  const end = async () => {
    isOver = true;
    await Promise.all(calling);
  };
  // A test that fails ends the server under its callers.
  for (const each of calling) each.catch(() => {});
  onTestFinished(() => {
    isOver = true;
  });
  return {
    answers,
    acknowledged,
    async more(count, withinMs) {
      const enough = acknowledged.size + count;
      await until(`${count} more are acknowledged`, () => acknowledged.size >= enough, withinMs);
    },
    async next(status, withinMs) {
      const from = answers.length;
      return until(
        `there is an answer ${status}`,
        () => answers.slice(from).find((answer) => answer.status === status),
        withinMs,
      );
    },
    end,
  };
};

interface Created {
  id: string;
  event: string;
  data: { id: string; rmaNumber: string };
}

/** The whole feed, as a program reads it. */
const readFeed = async (server: ServerProcess): Promise<Created[]> => {
  const events: Created[] = [];
  for (let after = ''; ; ) {
    const { status, body } = await server.get(`/events?limit=100${after}`);
    expect(status).toBe(200);
    events.push(...body.items);
    if (!body.hasMore) return events;
    after = `&after=${body.cursor}`;
  }
};

/** Every order is there once, under the number that its 201 told and nobody else has, and its event is in the feed, once. */
export const expectKept = async (
  { acknowledged }: Pick<Load, 'acknowledged'>,
  server: ServerProcess,
  env: Env,
): Promise<void> => {
  const rows = await lookInto(env).selectFrom('offline_repairs').select(['id', 'number']).execute();
  const numbers = new Map(rows.map(({ id, number }) => [id, `#RMA-${String(number).padStart(6, '0')}`]));
  expect(new Set(numbers.values()).size).toBe(rows.length);
  const created = (await readFeed(server)).filter(({ event }) => event === 'offline_repair.created');
  const told = new Map(created.map(({ data }) => [data.id, data.rmaNumber]));
  expect(created).toHaveLength(rows.length);
  expect(told).toEqual(numbers);
  expect(numbers).toEqual(acknowledged);
};

/** Of all answers, the refusals and the rest: the longest each took. */
export const longest = ({ answers }: Pick<Load, 'answers'>): { refusedMs: number; anyMs: number } => ({
  refusedMs: Math.max(0, ...answers.filter(({ status }) => status === 503).map(({ ms }) => ms)),
  anyMs: Math.max(...answers.map(({ ms }) => ms)),
});
