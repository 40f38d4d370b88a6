import type { Socket } from 'node:net';
import { Kysely, PostgresDialect, type PostgresPool, sql } from 'kysely';
import pg from 'pg';
import { RateLimiterPostgres } from 'rate-limiter-flexible';
import type { ColumnKind, Database, OnQuery } from './database.ts';
import { asJson } from './known-statements.ts';
import { logQuery } from './log-query.ts';
import { migrateToLatest } from './migrate.ts';
import { postgresLane } from './postgres-lane.ts';
import { postgresRateGate } from './postgres-rate-gate.ts';
import { sharedConnections } from './postgres-shared.ts';
import { wakeCalls } from './postgres-wake.ts';
import type { Tables } from './tables.ts';

/** Together below 5 s: a request that finds the database away or hanging is answered within that time. */
const CONNECT_TIMEOUT_MS = 2000;
const QUERY_TIMEOUT_MS = 2500;
/** More connections than this only queue inside PostgreSQL (measured: 64 halve the throughput). */
const POOL_SIZE = 8;
const STEADY_POOL_SIZE = 4;
const SHARED = 3;
const LIGHT_POOL_SIZE = 3;
/** With much more at once, all callers wait for the same transaction, and process and server for each other. */
const LANEFUL = 24;
/**
 * Left to itself PostgreSQL plans anew whatever gets a list, at every call, which takes longer than running it. A plan that is
 * kept may be as old as the table: where that was empty, it would read all of it for ever. So only ways through an index.
 */
const KEEP_PLANS = [
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
]
  .map((setting) => `-c ${setting}`)
  .join(' ');
const NAMED_STATEMENTS = 500;
/** In a statement's text: its plan depends on the values and is not to be kept. */
const PLANNED_ANEW = '/* planned anew */';

export const openPostgres = (connectionString: string, onQuery: OnQuery): Database => {
  const settings = {
    connectionString,
    types: { getTypeParser },
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'handback',
  };
  const connect = (options: pg.PoolConfig) => {
    const pool = new pg.Pool({
      ...settings,
      // Kept open: a webhook that is due after 16 s of silence must not wait for a new connection.
      idleTimeoutMillis: 0,
      ...options,
    });
    // An idle connection that breaks is replaced at the next query; unheard, the event would end the process.
    pool.on('error', () => {});
    return pool;
  };
  const kyselyOn = (pool: pg.Pool) =>
    new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), log: logQuery(onQuery) });
  /** Sends what is asked for together in one packet, where Kysely's own transactions wait for each answer. */
  const onOne = new WeakMap<pg.PoolClient, Kysely<Tables>>();
  const kyselyOnOne = (client: pg.PoolClient): Kysely<Tables> => {
    let kysely = onOne.get(client);
    if (!kysely) {
      const handle = { query: client.query.bind(client), release() {} };
      const alone = { connect: async () => handle, end: async () => {} } as unknown as PostgresPool;
      kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: alone }), log: logQuery(onQuery) });
      onOne.set(client, kysely);
    }
    return kysely;
  };
  const newLane = () => postgresLane(steadyPool, kyselyOnOne, onQuery);
  const working = { query_timeout: QUERY_TIMEOUT_MS, Client: PreparingClient, pipeline: true };
  const pool = connect({ ...working, max: POOL_SIZE });
  const db = kyselyOn(pool);
  const steadyPool = connect({ ...working, max: STEADY_POOL_SIZE, options: KEEP_PLANS });
  const steady = kyselyOn(steadyPool);
  const light = kyselyOn(
    connect({ ...working, max: LIGHT_POOL_SIZE, options: `-c synchronous_commit=off ${KEEP_PLANS}` }),
  );

  const shared = sharedConnections(
    () =>
      new PreparingClient({
        ...settings,
        query_timeout: QUERY_TIMEOUT_MS,
        pipeline: true,
        options: KEEP_PLANS,
      } as pg.ClientConfig),
    SHARED,
  );
  const reads = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: shared as unknown as PostgresPool }),
    log: logQuery(onQuery),
  });

  return {
    db,
    steady,
    reads,
    async migrate(notice = () => {}) {
      // On a connection of its own without a time limit: waiting for another process's migration is fine.
      const alone = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: connect({ max: 1 }) }) });
      try {
        await migrateToLatest(alone, { id: 'uuid', unlogged: true, trigrams: true, notice });
      } finally {
        await alone.destroy();
      }
    },
    rateLimiter: ({ name, points, seconds }) =>
      new RateLimiterPostgres({
        storeClient: pool,
        storeType: 'pool',
        tableName: 'rate_limits',
        tableCreated: true,
        keyPrefix: name,
        points,
        duration: seconds,
        // Whoever is over the limit is turned away from memory, so a flood costs no round trips.
        inMemoryBlockOnConsumed: points + 1,
      }),
    rateGate: (windows) => postgresRateGate(shared, windows),
    async tryLocks(trx, names) {
      const { rows } = await sql<{ name: string; taken: boolean }>`
        select name, pg_try_advisory_xact_lock(hashtextextended(name, 0)) as taken
        from unnest(${names}::text[]) as name`.execute(trx);
      return new Set(rows.filter(({ taken }) => !taken).map(({ name }) => name));
    },
    rows: (alias, columns, values) => {
      const parts = Object.entries(columns).map(
        ([name, kind]) => sql`${sql.id(name)} ${sql.raw(TYPES[kind])}`,
      );
      return sql`json_to_recordset(${asJson(values)}::json) as ${sql.id(alias)}(${sql.join(parts)})`;
    },
    oneOf: (kind, values) => sql`= any(${values}::${sql.raw(TYPES[kind])}[])`,
    contains: (column, part) =>
      sql`${sql.ref(column)} like ${`%${part.replaceAll(/[\\%_]/g, '\\$&')}%`} escape '\\' ${sql.raw(PLANNED_ANEW)}`,
    atomically: (work) => newLane()(work),
    lane: newLane,
    laneful: LANEFUL,
    ...wakeCalls(
      pool,
      () => new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, keepAlive: true }),
    ),
    lightly: (work) => work(light),
    async close() {
      await Promise.all([db.destroy(), steady.destroy(), light.destroy(), reads.destroy()]);
      // Kysely ends only what it has used itself; lanes, limits and wake-up calls go past it.
      const left = [pool, steadyPool].filter(({ ending }) => !ending);
      await Promise.all([...left.map((each) => each.end()), shared.end()]);
    },
  };
};

const TYPES: Record<ColumnKind, string> = { id: 'uuid', text: 'text', integer: 'bigint' };

const INT8 = 20;
/** Our 64-bit numbers are counts and milliseconds, all far below 2^53. */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text');

const names = new Map<string, string>();
const nameOf = (text: string): string | undefined => {
  const known = names.get(text);
  if (known) return known;
  if (names.size >= NAMED_STATEMENTS) return undefined;
  const name = `handback_${names.size}`;
  names.set(text, name);
  return name;
};

/** Names what has parameters, so that each connection parses and plans a statement once; sends what is asked for together as one packet. */
class PreparingClient extends pg.Client {
  #corked = false;

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // Whoever waits for an answer is told anyway; unheard, the event of a connection that breaks would end the process.
    this.on('error', () => {});
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg's overloads of query cannot be restated; what goes through is unchanged
  override query(...args: any[]): any {
    this.#cork();
    const [text, values, ...rest] = args;
    const named =
      typeof text === 'string' && Array.isArray(values) && values.length > 0 && !text.includes(PLANNED_ANEW)
        ? [{ text, values, name: nameOf(text) }, ...rest]
        : args;
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const result = (super.query as any)(...named);
    result?.catch?.((error: Error) => {
      // The connection still waits for that answer: end it, so that neither a rollback nor the pool waits too.
      if (error.message === 'Query read timeout') this.end();
    });
    return result;
  }

  #cork(): void {
    const { stream } = (this as unknown as { connection: { stream: Socket } }).connection;
    if (this.#corked || !stream.writable) return;
    this.#corked = true;
    stream.cork();
    process.nextTick(() => {
      this.#corked = false;
      stream.uncork();
    });
  }
}
