import { setTimeout as pause } from 'node:timers/promises';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { PoolSizes } from '../../config.ts';
import { anyCase } from '../any-case.ts';
import type { Database, Observer } from '../database.ts';
import { saveFact } from '../installation-facts.ts';
import { migrateToLatest } from '../migrate.ts';
import { type Notice, SCHEMA_WORDS } from '../schema-change.ts';
import { asJson, type ColumnKind, compiledStatements, type Dialect, encoded } from '../statements.ts';
import type { Tables } from '../tables.ts';
import { parseAddress } from './address.ts';
import { clientConfig, PLANNED_ANEW, PreparingClient } from './client.ts';
import { databaseClock } from './clock.ts';
import { hostsOf } from './hosts.ts';
import { wakeCalls } from './notify.ts';
import { refuseSharedSessions } from './pooler.ts';
import { connectionsTo } from './pools.ts';
import { postgresRateGate } from './rate-limits.ts';
import { pipelinedTransactions, readThenWrite } from './read-then-write.ts';

/** With much more at once, all callers wait for the same transaction, and process and server for each other. */
const BATCH_SIZE = 24;

/** How long a close waits for the last wake-up calls. */
const LAST_CALLS_MS = 100;

export interface PostgresSettings {
  connectionString: string;
  poolSizes: PoolSizes;
  /** This process's own clock, where a test wants a wrong one. */
  ownClock?: (() => number) | undefined;
}

export const openPostgres = (
  { connectionString, poolSizes, ownClock }: PostgresSettings,
  observer: Observer,
): Database => {
  const hosts = hostsOf(parseAddress(connectionString));
  const { pool, kyselyOn, clientSettings } = connectionsTo(hosts, poolSizes, observer);
  const pools = {
    creations: pool('creations'),
    changes: pool('changes'),
    waiting: pool('waiting'),
    lists: pool('lists'),
    admin: pool('admin'),
    webhooks: pool('webhooks'),
    reads: pool('reads'),
    readiness: pool('readiness'),
  };
  const db = kyselyOn(pools.admin);
  const readiness = kyselyOn(pools.readiness);
  const statements = compiledStatements({ db, ...dialect });
  const { clock, ...comparing } = databaseClock(pools.reads, observer.onFault, ownClock);
  // Another server has another clock.
  hosts.onMove(comparing.compareSoon);
  const newListener = () => new PreparingClient(clientConfig(clientSettings));
  const { wake, onWake, sent } = wakeCalls(pools.reads, hosts, newListener, observer.onFault);

  return {
    clock,
    db,
    lists: kyselyOn(pools.lists),
    reads: kyselyOn(pools.reads),
    scans: db,
    withoutFsync: kyselyOn(pools.webhooks),
    fill: statements.fill,
    async migrate(notice = () => {}) {
      await hosts.connect((url) => migrate(url, notice, observer));
      await comparing.compare();
      comparing.start();
    },
    analyze: () => analyzeGrown(db),
    rateGate: (windows, given) =>
      postgresRateGate(pools.reads, windows, given, given === clock ? null : given),
    ...dialect,
    atomically: readThenWrite(pools.changes, pools.waiting, statements, observer),
    pipelinedTransactions: () => pipelinedTransactions(pools.creations, statements, observer),
    batchSize: BATCH_SIZE,
    wake,
    onWake,
    checkReady: () => saveFact(readiness, 'ready-check', String(clock.now())),
    async close() {
      comparing.stop();
      // The last call tells other processes that this one has left its receivers to them.
      await Promise.race([sent(), pause(LAST_CALLS_MS, undefined, { ref: false })]);
      // Kysely would end only what it has used itself.
      await Promise.all(Object.values(pools).map((each) => each.end()));
    },
  };
};

/** On a connection of its own without a time limit: waiting for another process's migration is fine. */
const migrate = async (connectionString: string, notice: Notice, { onFault }: Observer): Promise<void> => {
  const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: 2_000, max: 1, keepAlive: true });
  pool.on('error', (error) => onFault('idle connection lost', error));
  const alone = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    const client = await pool.connect();
    await refuseSharedSessions(client, connectionString).finally(() => client.release());
    if (await migrateToLatest(alone, { ...SCHEMA_WORDS.postgres, notice })) await analyzeGrown(alone);
  } finally {
    await pool.end();
  }
};

/**
 * Autovacuum does the same within minutes; until then a table that was empty when it was analysed is planned as if it still were.
 * One that another process analyses is skipped.
 */
const analyzeGrown = async (db: Kysely<Tables>): Promise<void> => {
  const { rows } = await sql<{ name: string }>`
    select s.relname as name from pg_stat_user_tables as s join pg_class as c on c.oid = relid
      where pg_table_is_visible(relid) and n_mod_since_analyze > 10 * greatest(reltuples, 100)`.execute(db);
  for (const { name } of rows) await sql`analyze (skip_locked) ${sql.table(name)}`.execute(db);
};

const TYPES: Record<ColumnKind, string> = { id: 'uuid', text: 'text', integer: 'bigint' };

const likePattern = (part: string): string => `%${part.replaceAll(/[\\%_]/g, '\\$&')}%`;

const anyCaseRegex = (part: string): string =>
  anyCase(part, (character) => character.replaceAll(/[^\p{L}\p{N}\s]/gu, '\\$&'));

/** How PostgreSQL spells what the engines spell differently. */
const dialect: Dialect & Pick<Database, 'tryLocks'> = {
  async tryLocks(trx, names) {
    const { rows } = await sql<{ name: string; taken: boolean }>`
      select name, pg_try_advisory_xact_lock(hashtextextended(name, 0)) as taken
      from unnest(${names}::text[]) as name`.execute(trx);
    return new Set(rows.filter(({ taken }) => !taken).map(({ name }) => name));
  },
  rows(alias, columns, values) {
    const parts = Object.entries(columns).map(([name, kind]) => sql`${sql.id(name)} ${sql.raw(TYPES[kind])}`);
    return sql`json_to_recordset(${asJson(values)}::json) as ${sql.id(alias)}(${sql.join(parts)})`;
  },
  oneOf: (kind, values) => sql`= any(${values}::${sql.raw(TYPES[kind])}[])`,
  among: (query) => sql`= any(array(${query}))`,
  contains: (column, part) =>
    sql`${sql.ref(column)} like ${encoded(part, likePattern)} escape '\\' ${sql.raw(PLANNED_ANEW)}`,
  containsAnyCase: (column, part) => sql`${sql.ref(column)} ~ ${encoded(part, anyCaseRegex)}`,
  // It knows how many rows have a value.
  beside: (column) => sql.ref(column),
};
