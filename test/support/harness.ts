import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, inject, onTestFinished } from 'vitest';
import type { Plan } from '../../contract/admin-people.ts';
import { buildApp } from '../../src/api/app.ts';
import type { Context } from '../../src/api/context.ts';
import { createClient, type NewApiClient } from '../../src/api-clients/actions.ts';
import { openContext } from '../../src/app/context.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { setTimeLimitFactor } from '../../src/lib/time-limits.ts';
import { readConfig } from '../../src/platform/config.ts';
import { type BillingChange, createShop } from '../../src/shops/actions.ts';
import type { Shop } from '../../src/shops/plans.ts';
import { openSignInLimits } from '../../src/staff/sign-in.ts';
import { showLogOnFailure } from './failures.ts';
import { newFolder } from './folders.ts';
import { type Calls, callsOf, isRaw, sendTo, targetOf } from './http.ts';
import { openApiChecker } from './openapi-check.ts';
import { emptyCopy } from './postgres-databases.ts';

// The real app on a real database, over HTTP. Every exchange is held against the OpenAPI document.

export const ENGINE = process.env['ENGINE'] as 'sqlite' | 'postgres';

export type { ApiResponse, SendOptions } from './http.ts';

/** `send`, `get` and `post` call the external API with the first shop's key. */
export interface Harness extends Calls {
  ctx: Context;
  app: FastifyInstance;
  url: string;
  env: Record<string, string>;
  shop: Shop;
  client: NewApiClient;
  clock: { advance(ms: number): void; hold(): void };
  logs: string[];
  addShop(options?: ShopOptions): Promise<{ shop: Shop; client: NewApiClient }>;
  /** What tests before this one left in the database that they share. */
  rowsBefore: RowCounts;
  close(): Promise<void>;
}

type ShopOptions = { plan?: Plan } & BillingChange;

export type RowCounts = Record<'repairs' | 'returns' | 'timeline' | 'keys' | 'used', number>;

/** How many rows of all shops there are of what requests write. */
export const countRows = async ({ db }: Context): Promise<RowCounts> => {
  const { rows } = await sql<Record<string, unknown>>`select
    (select count(*) from offline_repairs) as repairs,
    (select count(*) from trade_returns) as returns,
    (select count(*) from timeline) as timeline,
    (select count(*) from idempotency_keys) as keys,
    (select sum(month_used) from shop_counters) as used`.execute(db);
  const counts = Object.entries(rows[0] ?? {}).map(([name, count]) => [name, Number(count)]);
  return Object.fromEntries(counts);
};

/** Settings for a database of its own on the engine under test, and how to be rid of it. */
export const freshDatabase = async (): Promise<{ env: Record<string, string>; drop(): Promise<void> }> => {
  if (ENGINE === 'postgres') {
    const { url, drop } = await emptyCopy(inject('postgresUrl'));
    return { env: { DATABASE_URL: url, SECRET_KEY: 'a secret key for tests that is long enough' }, drop };
  }
  const dataDir = newFolder();
  copyFileSync(inject('sqliteTemplate'), join(dataDir, 'handback.sqlite'));
  return { env: { DATA_DIR: dataDir }, drop: async () => rmSync(dataDir, { recursive: true, force: true }) };
};

/** The document is the same for every app, and reading it takes longer than most tests. */
let checker: ReturnType<typeof openApiChecker> | null = null;
const checkerOf = (app: FastifyInstance) => {
  checker ??= openApiChecker(app.swagger());
  return checker;
};

/**
 * A busy machine takes longer for a request than the service grants it: that is no fault of what a test is about. A test of these limits
 * takes `IMPATIENT` as its settings.
 */
const PATIENT = { TIME_LIMIT_FACTOR: '10' };
export const IMPATIENT = { TIME_LIMIT_FACTOR: '1' };

interface AppOptions {
  env?: Record<string, string>;
  /** May add routes that behave as no route of ours does. */
  prepare?: (app: FastifyInstance) => void;
}

/** What listened last in this worker; only where SAME_ADDRESS is set. */
let lastPort = 0;

/**
 * Where browsers look at the app, at the address of the one before it if that is free: a browser keeps scripts by their address, and
 * need not fetch and compile them again.
 */
const listenAgain = async (app: FastifyInstance): Promise<string> => {
  const listen = (port: number) => app.listen({ host: '127.0.0.1', port });
  if (!process.env['SAME_ADDRESS']) return listen(0);
  const url = await listen(lastPort).catch(() => listen(0));
  lastPort = Number(new URL(url).port);
  return url;
};

/** A class, as PostgreSQL's clock is: `now` without its object fails. */
class MovableClock {
  #aheadMs = 0;
  #heldAtMs: number | null = null;

  now(): number {
    return (this.#heldAtMs ?? Date.now()) + this.#aheadMs;
  }

  /** It stands still but for `advance`: nothing falls due because the machine was slow. */
  hold(): void {
    this.#heldAtMs = Date.now();
  }

  advance(ms: number): void {
    this.#aheadMs += ms;
  }

  reset(): void {
    this.#aheadMs = 0;
    this.#heldAtMs = null;
  }
}

type OpenApp = Pick<Harness, 'ctx' | 'app' | 'url' | 'env' | 'logs' | 'close'> & { clock: MovableClock };

const openApp = async ({ env: extraEnv = {}, prepare = () => {} }: AppOptions): Promise<OpenApp> => {
  const database = await freshDatabase();
  const env = { ...PATIENT, TRUST_PROXY: '1', PORT: '0', LOG_LEVEL: 'info', ...database.env, ...extraEnv };
  const clock = new MovableClock();
  const logs: string[] = [];
  const config = readConfig(env);
  const ctx = await openContext(config, {
    clock,
    log: pino({ level: config.logLevel }, { write: (line: string) => void logs.push(line) }),
  });
  const app = await buildApp(ctx);
  prepare(app);
  const url = await listenAgain(app);
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await app.close();
    await ctx.close();
    await database.drop();
  };
  return { ctx, app, url, env, logs, clock, close };
};

/** An app and a database of its own, until the test ends. */
export const harness = async ({ env, prepare, ...shop }: ShopOptions & AppOptions = {}): Promise<Harness> => {
  const opened = await openApp({ ...(env ? { env } : {}), ...(prepare ? { prepare } : {}) });
  onTestFinished(opened.close);
  const rowsBefore = { repairs: 0, returns: 0, timeline: 0, keys: 0, used: 0 };
  return { ...(await withShop(opened, shop)), rowsBefore };
};

/**
 * One app for all tests of a file, each with a shop of its own: to start one takes longer than most tests. A test that does more
 * to the app or its database than call it says `own`, and gets one of its own; so does one with settings.
 */
export const sharedHarness = (shared: AppOptions = {}) => {
  let opened: OpenApp | undefined;
  afterAll(() => opened?.close());
  return async ({ own, ...options }: ShopOptions & AppOptions & { own?: true } = {}): Promise<Harness> => {
    if (own || options.env || options.prepare) return harness(options);
    opened ??= await openApp(shared);
    setTimeLimitFactor(opened.ctx.config.timeLimitFactor);
    opened.clock.reset();
    // A test whose clock ran ahead leaves times in it that lie ahead of the next one's.
    opened.ctx.signInLimits = openSignInLimits(opened.ctx);
    await opened.ctx.db.deleteFrom('rate_limits').where('key', 'like', 'sign-in-strangers%').execute();
    opened.logs.length = 0;
    const rowsBefore = await countRows(opened.ctx);
    return { ...(await withShop(opened, options)), rowsBefore };
  };
};

const withShop = async (opened: OpenApp, options: ShopOptions): Promise<Omit<Harness, 'rowsBefore'>> => {
  const { ctx, app, url, logs } = opened;
  showLogOnFailure('the service', () => logs);
  const check = ctx.config.role === 'worker' ? () => {} : checkerOf(app);
  const addShop: Harness['addShop'] = async ({ plan = 'SCALE', ...billing } = {}) => {
    const shop = await createShop(ctx, OPERATOR, { name: 'Test shop', plan, ...billing });
    return {
      shop,
      client: await createClient(ctx, OPERATOR, { shopId: shop.id, name: 'Till', webhookUrl: null }),
    };
  };
  const { shop, client } = await addShop(options);

  const sendAlone = sendTo(url, client.apiKey);
  const send: Calls['send'] = async (path, options = {}) => {
    const response = await sendAlone(path, options);
    const { method = 'GET', body, unchecked = false } = options;
    if (method !== 'HEAD' && !unchecked)
      check({
        method,
        path: targetOf(path),
        // What was refused is not held against the document.
        sent: response.status < 300 ? trimmed(isRaw(body) ? parsedOrNothing(body) : body) : undefined,
        status: response.status,
        headers: response.headers,
        received: response.body,
      });
    return response;
  };

  return { ...opened, shop, client, ...callsOf(send), addShop };
};

const parsedOrNothing = (body: unknown): unknown => {
  try {
    return JSON.parse(
      Buffer.from(body as string)
        .toString()
        .replace(/^\ufeff/, ''),
    );
  } catch {
    return undefined;
  }
};

/** Texts as the service sees them: the document's lengths and formats are those of trimmed texts. */
const trimmed = (value: unknown): unknown => {
  if (typeof value === 'string') return value.trim();
  if (Array.isArray(value)) return value.map(trimmed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, trimmed(inner)]));
};
