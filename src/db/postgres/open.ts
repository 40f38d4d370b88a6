import { type Kysely, sql } from 'kysely';
import type { PoolSizes } from '../../db/types.ts';
import { isOutOfConnections } from '../database-errors.ts';
import { migrateToLatest, SCHEMA_DIALECTS } from '../migrate.ts';
import { postgresRateGate } from '../rate-windows.ts';
import type { Tables } from '../schema.ts';
import { CompiledStatements, postgresDialect } from '../statements.ts';
import type { ChangeTransactions, Database, Notice, Observer } from '../types.ts';
import { findBlockers } from './activity.ts';
import { DatabaseClock } from './clock.ts';
import { Hosts, refuseSharedSessions } from './hosts.ts';
import { Notifications } from './listen.ts';
import { openPools, withOwnPool } from './pools.ts';
import { changeTransactions } from './transaction.ts';
import { writeCheck } from './write-check.ts';

/** With many more, all callers wait for the same transaction, while process and server take turns. */
const BATCH_SIZE = 24;
/** With twice as many, lists wait longer for each other without more throughput. */
const LISTS_PER_PACKET = 16;

export const openPostgres = (
  connectionString: string,
  poolSizes: PoolSizes,
  observer: Observer,
  ownClock?: () => number,
): Database => {
  const hosts = new Hosts(connectionString);
  const pools = openPools(hosts, poolSizes, observer);
  const db = pools.admin.kysely();
  const background = pools.background.kysely();
  const readiness = pools.readiness.kysely();
  const statements = new CompiledStatements({ db, ...postgresDialect });
  const clock = new DatabaseClock(pools.background, ownClock);
  // After a failover the new server has a different clock.
  hosts.on('move', () => clock.compareSoon());
  const notifications = new Notifications(pools.reads);
  const changes = changeTransactions(pools.changes, statements);

  const readinessMethods = readinessOf(pools, clock, changes);

  return {
    clock,
    db,
    lists: pools.lists.kysely(),
    shortLists: pools.lists.kysely(LISTS_PER_PACKET),
    reads: pools.reads.kysely(),
    scans: pools.scans.kysely(),
    webhooks: pools.webhooks.kysely(),
    background,
    bulk: db,
    fill: statements.fill,
    async migrate(notice = () => {}) {
      await hosts.connect((url) => migrate(url, notice));
      await clock.start();
    },
    analyze: () => analyzeGrown(background),
    // PostgreSQL's autovacuum removes old rows by itself.
    scrub: async () => {},
    rateGate: (windows, rateClock) =>
      // Another clock than the database's is that of a test.
      postgresRateGate(pools.reads, windows, rateClock, rateClock === clock ? null : rateClock),
    ...postgresDialect,
    changeTransactions: {
      ...changes,
      mostLockWaits: Math.max(1, poolSizes.changes - 2),
      batchSize: BATCH_SIZE,
    },
    wake: (topic, id) => notifications.wake(topic, id),
    onWake: (topic, listener) => notifications.onWake(topic, listener),
    ...readinessMethods,
    blockers: () => findBlockers(readiness),
    async close() {
      clock.stop();
      await notifications.close();
      // Kysely would only end pools that it has used.
      await Promise.all(Object.values(pools).map((each) => each.end()));
    },
  };
};

/** Throws unless requests would be served: it checks on a dedicated connection, and that there are connections for requests. */
const readinessOf = (
  pools: ReturnType<typeof openPools>,
  clock: DatabaseClock,
  { pipelined }: Pick<ChangeTransactions, 'pipelined'>,
): Pick<Database, 'openConnections' | 'checkReady'> => {
  const openOne = (kind: keyof typeof pools) => pools[kind].query('select 1');
  const own = pools.readiness.kysely();
  return {
    async openConnections() {
      for (const kind of ['readiness', 'changes', 'reads', 'lists'] as const) await openOne(kind);
    },
    async checkReady() {
      // Without one of these no request works, although the check has its own connection.
      for (const kind of ['reads', 'changes'] as const) if (pools[kind].isEmpty) await openOne(kind);
      const queries = writeCheck(own, clock.now());
      try {
        await own.transaction().execute(async (trx) => {
          for (const query of queries) await trx.executeQuery(query);
        });
      } catch (error) {
        if (!isOutOfConnections(error)) throw error;
        // The check has lost its connection and cannot get another, so it uses a connection of the changes pool.
        pools.readiness.observer.onDatabaseError('no connection left', error);
        await pipelined(queries, () => ({ writes: [], result: null }));
      }
    },
  };
};

/** Waiting for another process's migration may take long. The second connection reads the list of migrations (`migrate.ts`). */
const migrate = async (connectionString: string, notice: Notice): Promise<void> => {
  await refuseSharedSessions(connectionString);
  await withOwnPool({ connectionString, max: 2 }, async (db) => {
    if (await migrateToLatest(db, { ...SCHEMA_DIALECTS.postgres, notice })) await analyzeGrown(db);
  });
};

/** Autovacuum does the same within minutes. Until then a table that was empty when analysed is planned as empty. */
const analyzeGrown = async (db: Kysely<Tables>): Promise<void> => {
  const { rows } = await sql<{ name: string }>`
    select s.relname as name from pg_stat_user_tables as s join pg_class as c on c.oid = relid
      where schemaname = current_schema() and n_mod_since_analyze > 10 * greatest(reltuples, 100)`.execute(
    db,
  );
  for (const { name } of rows) await sql`analyze (skip_locked) ${sql.table(name)}`.execute(db);
};
