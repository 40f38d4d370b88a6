import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import pg from 'pg';
import type { PoolSizes } from '../../db/types.ts';
import { batched } from '../../lib/batch.ts';
import { withTimeout } from '../../lib/time.ts';
import { timeLimit } from '../../lib/time-limits.ts';
import {
  isOutOfConnections,
  isStalePlan,
  isUnavailable,
  takesNoWrites,
  whileConnecting,
} from '../database-errors.ts';
import type { Tables } from '../schema.ts';
import type { Observer } from '../types.ts';
import type { Hosts } from './hosts.ts';

/** Together these are below 5 s, the time limit of a request whose database is unavailable or hangs. */
const CONNECT_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 2_500;
/**
 * For the pipeline of changes, in which all shops would wait. Changes that meet a lock are retried on another connection
 * (`transaction.ts`).
 */
const SHORT_LOCK_TIMEOUT_MS = 100;

type PoolSettings = Record<string, string | number>;

const limits = (): PoolSettings => ({
  // The server gives up before the driver does, so that it does not continue to work for a caller who has left.
  statement_timeout: timeLimit(2_400),
  lock_timeout: timeLimit(1_500),
  // A process that disappears inside a transaction holds its locks this long at most.
  idle_in_transaction_session_timeout: timeLimit(5_000),
});
// By default PostgreSQL plans statements with arrays anew for every call, which takes longer than running them. A generic plan
// may be as old as the table: if that was empty, it would scan all of it for ever. So it may only use indexes.
const GENERIC_PLANS: PoolSettings = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // A generic plan estimates that a third of a shop has changed, and starts two workers, which takes 10 ms, to find nothing.
  max_parallel_workers_per_gather: 0,
};
/** Plans depend on the values, which a list with a rare status and a search need. */
const CUSTOM_PLANS: PoolSettings = { plan_cache_mode: 'force_custom_plan' };
/** Commits do not wait for the disk, since work that a power cut loses is done again. */
const NO_FSYNC: PoolSettings = { synchronous_commit: 'off' };

/** The application name of every connection, by which `doctor` and the log recognise them. */
export const OWN_NAME = 'handback';
export const READINESS_NAME = `${OWN_NAME} readiness`;

/** Each kind of work has its own connections, so that none waits for another's locks, searches or deep pages. */
const POOLS = {
  changes: { ...GENERIC_PLANS, lock_timeout: SHORT_LOCK_TIMEOUT_MS },
  lists: GENERIC_PLANS,
  admin: CUSTOM_PLANS,
  scans: CUSTOM_PLANS,
  webhooks: { ...GENERIC_PLANS, ...NO_FSYNC },
  reads: GENERIC_PLANS,
  background: { ...GENERIC_PLANS, ...NO_FSYNC },
  /** Readiness does not depend on how busy the others are. Each process has one such connection, by whose name `doctor` counts processes. */
  readiness: { ...NO_FSYNC, application_name: `'${READINESS_NAME}'` },
} satisfies Record<keyof PoolSizes | keyof typeof FIXED_SIZES, PoolSettings>;
type PoolKind = keyof typeof POOLS;
const FIXED_SIZES = { background: 1, readiness: 1 };

/** The maximum of connections of one process, including the one that listens for notifications. */
export const connectionsOf = (sizes: PoolSizes): number =>
  Object.values({ ...sizes, ...FIXED_SIZES }).reduce((sum, size) => sum + size, 1);

/** Settings are sent after a connection is opened, since a pooler may refuse startup parameters. */
export const setting = (settings: PoolSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `set ${name} = ${value}; `)
    .join('');

const INT8 = 20;
/** Our 64-bit numbers are counts and milliseconds, far below 2^53. A larger one is damaged, and is backed up unchanged. */
const parseInt8 = (text: string): number | bigint => {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
};

export const clientConfig = () =>
  ({
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 ? parseInt8 : pg.types.getTypeParser(oid, format as 'text'),
    },
    connectionTimeoutMillis: timeLimit(CONNECT_TIMEOUT_MS),
    query_timeout: timeLimit(QUERY_TIMEOUT_MS),
    application_name: OWN_NAME,
    // It keeps firewalls from dropping a connection, and detects that the server is gone.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    pipeline: true,
  }) satisfies pg.ClientConfig;

/** Runs work in a separate pool, without a time limit for statements. */
export const withOwnPool = async <Result>(
  config: pg.PoolConfig,
  work: (db: Kysely<Tables>) => Promise<Result>,
): Promise<Result> => {
  const pool = new pg.Pool({ ...clientConfig(), query_timeout: 0, ...config });
  // A broken connection fails the current statement or the next one.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  try {
    return await work(new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }));
  } finally {
    await pool.end();
  }
};

/** Marks a statement whose plan depends on its values, so that it is not prepared. */
export const PLANNED_ANEW = '/* planned anew */';
/**
 * The maximum of prepared statements; later ones are parsed each time. Filters of lists alone have more shapes than this, but a
 * process that had seen 512 of them before its first creation was as fast, so none is evicted.
 */
const NAMED_STATEMENTS = 500;
/** The names of prepared statements by text. A connection parses and plans each of them once. */
const preparedNames = new Map<string, string>();
let named = 0;
const statementName = (text: string): string | undefined => {
  const known = preparedNames.get(text);
  if (known || preparedNames.size >= NAMED_STATEMENTS || text.includes(PLANNED_ANEW)) return known;
  named += 1;
  preparedNames.set(text, `handback_${named}`);
  return `handback_${named}`;
};

/** A connection that has been silent for this long is tested before it is used. */
const TEST_AFTER_SILENCE_MS = 1_000;
const SIGN_OF_LIFE_TIMEOUT_MS = 1_000;

const READ_ONLY = '25006';

export class Connection {
  readonly #client: pg.PoolClient;
  readonly #hosts: Hosts;
  readonly era: number;
  /** When the server last responded, by `performance.now()`. */
  heardAt = performance.now();
  #isCorked = false;

  constructor(client: pg.PoolClient, hosts: Hosts, era: number) {
    this.#client = client;
    this.#hosts = hosts;
    this.era = era;
  }

  async query<Row extends pg.QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<pg.QueryResult<Row>> {
    this.#cork();
    try {
      const name = values.length > 0 ? statementName(text) : undefined;
      const result = await this.#client.query<Row>({ text, values: [...values], name });
      this.heardAt = performance.now();
      return result;
    } catch (error) {
      const { code } = error as { code?: string };
      if (code) this.heardAt = performance.now();
      if (code === READ_ONLY) this.#hosts.refused(this.era);
      if (!isStalePlan(error)) throw error;
      preparedNames.delete(text);
      // Inside a transaction, the code that began it must retry all of it.
      if (this.#client.getTransactionStatus() !== 'I') throw error;
    }
    return this.query(text, values);
  }

  /** Whether the server is still there. It only tests a connection that has been silent. */
  async isAlive(): Promise<boolean> {
    if (performance.now() - this.heardAt < TEST_AFTER_SILENCE_MS) return true;
    const asking = this.query('select 1').then(() => true);
    return withTimeout(asking, SIGN_OF_LIFE_TIMEOUT_MS, () => DEAD_CONNECTION).catch(() => false);
  }

  release(broken?: boolean): void {
    this.#client.release(broken);
  }

  /** Closes without a terminate message, which a dead server would never read. */
  destroy(): void {
    this.#client.connection.stream.destroy();
  }

  /** Queries of one iteration of the event loop are sent as one packet. */
  #cork(): void {
    const { stream } = this.#client.connection;
    if (this.#isCorked || !stream.writable) return;
    this.#isCorked = true;
    stream.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }
}

/** After this time the pool tries to open more connections again. */
const GROW_AGAIN_AFTER_MS = 5_000;
/** A server that hangs does not respond to the end of a connection, which is destroyed after this time. */
const END_TIMEOUT_MS = 500;
const DEAD_CONNECTION = new Error('a connection that was idle gave no sign of life');

/** A pool that never returns an idle connection that a firewall has dropped, or whose server is gone or not in use any more. */
export class CheckedPool {
  readonly hosts: Hosts;
  readonly observer: Observer;
  readonly #pool: pg.Pool;
  readonly #size: number;
  #sizeAgain: NodeJS.Timeout | null = null;
  readonly #connections = new Map<pg.PoolClient, Connection>();
  /** If one connection is dead, those that have been silent since are dropped without testing each. */
  #distrustBefore = 0;

  constructor(hosts: Hosts, kind: PoolKind, sizes: PoolSizes, observer: Observer) {
    this.hosts = hosts;
    this.observer = observer;
    this.#size = { ...sizes, ...FIXED_SIZES }[kind];
    this.#pool = new pg.Pool({
      ...clientConfig(),
      Client: clientOf(hosts),
      max: this.#size,
      // Connections stay open, so that a webhook after 16 s of silence does not wait for a new one.
      idleTimeoutMillis: 0,
      onConnect: async (client) => {
        // The types do not know that several statements have several results.
        const text = `${setting({ ...limits(), ...POOLS[kind] })}show transaction_read_only`;
        const results: unknown = await client.query(text);
        hosts.accept((results as pg.QueryResult[]).at(-1)?.rows[0]?.transaction_read_only);
      },
    });
    // An idle connection that breaks is replaced at the next query.
    this.#pool.on('error', (error) => observer.onDatabaseError('idle connection lost', error));
    this.#pool.on('connect', (client) => {
      const { era } = client as pg.PoolClient & { era: number };
      this.#connections.set(client, new Connection(client, hosts, era));
    });
    this.#pool.on('remove', (client) => this.#connections.delete(client));
  }

  get isEmpty(): boolean {
    return this.#connections.size === 0;
  }

  async connect(): Promise<Connection> {
    for (;;) {
      const client = await this.#client();
      const connection = this.#connections.get(client) as Connection;
      if (await this.#isUsable(connection)) return connection;
      connection.destroy();
      connection.release(true);
    }
  }

  async query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<pg.QueryResult<Row>> {
    const connection = await this.connect();
    let isBroken = false;
    try {
      return await connection.query<Row>(text, values);
    } catch (error) {
      isBroken = isUnavailable(error) && !takesNoWrites(error);
      throw error;
    } finally {
      connection.release(isBroken);
    }
  }

  async end(): Promise<void> {
    await withTimeout(this.#pool.end(), END_TIMEOUT_MS, () => DEAD_CONNECTION).catch(() => {
      for (const connection of this.#connections.values()) connection.destroy();
    });
  }

  /** With `mostTogether`, for single statements: concurrent ones share a connection and a packet. */
  kysely(mostTogether = 1): Kysely<Tables> {
    // Kysely only needs connect, query and release here, without cursors and cancelling.
    const pool = (mostTogether > 1 ? this.#sharing(mostTogether) : this) as unknown as PostgresPool;
    return new Kysely<Tables>({
      dialect: new PostgresDialect({ pool }),
      log: ({ queryDurationMillis, level }) => this.observer.onQuery(queryDurationMillis, level === 'error'),
    });
  }

  #sharing(most: number) {
    const connections = batched(
      async (callers: null[]) => {
        const connection = await this.connect();
        let users = callers.length;
        const release = (): void => {
          users -= 1;
          if (users === 0) connection.release();
        };
        const query: Connection['query'] = (text, values) => connection.query(text, values);
        return callers.map(() => ({ query, release }));
      },
      { most, afterFailure: () => 'fail' },
    );
    return { connect: () => connections(null) };
  }

  /** If the server has no connection left, callers wait for an existing one instead of failing. */
  async #client(): Promise<pg.PoolClient> {
    const open = () => whileConnecting(this.hosts.connect(() => this.#pool.connect()));
    try {
      return await open();
    } catch (error) {
      if (!isOutOfConnections(error) || this.isEmpty) throw error;
      this.#makeDo();
      return open();
    }
  }

  /** The pool reads its size at each call. */
  #makeDo(): void {
    this.#pool.options.max = this.#connections.size;
    this.#sizeAgain ??= setTimeout(() => {
      this.#sizeAgain = null;
      this.#pool.options.max = this.#size;
    }, GROW_AGAIN_AFTER_MS).unref();
  }

  async #isUsable(connection: Connection): Promise<boolean> {
    if (connection.era !== this.hosts.era || connection.heardAt < this.#distrustBefore) return false;
    if (await connection.isAlive()) return true;
    this.#distrustBefore = performance.now();
    this.observer.onDatabaseError('idle connection dead', DEAD_CONNECTION);
    return false;
  }
}

const clientOf = (hosts: Hosts) =>
  class extends pg.Client {
    readonly era = hosts.era;

    constructor(config?: pg.ClientConfig) {
      super({ ...config, connectionString: hosts.url });
      // The current statement fails with the same error. Without a listener the event would end the process.
      this.on('error', () => {});
    }
  };

export const openPools = (
  hosts: Hosts,
  sizes: PoolSizes,
  observer: Observer,
): Record<PoolKind, CheckedPool> => {
  const kinds = Object.keys(POOLS) as PoolKind[];
  const pools = kinds.map((kind) => [kind, new CheckedPool(hosts, kind, sizes, observer)]);
  return Object.fromEntries(pools);
};
