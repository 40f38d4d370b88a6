import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import pg from 'pg';
import type { PoolSizes } from '../../config.ts';
import type { Observer } from '../database.ts';
import { logQuery } from '../log-query.ts';
import type { Tables } from '../tables.ts';
import { type CheckedPool, checked } from './checked-pool.ts';
import { clientConfig, PreparingClient } from './client.ts';
import type { Hosts } from './hosts.ts';

/** Together below 5 s: a request that finds the database away or hanging is answered within that time. */
const CONNECT_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 2_500;
/** The server gives up first, so that it never goes on working for somebody who has left. */
const STATEMENT_TIMEOUT_MS = 2_400;
/** A process that vanishes inside a transaction holds its rows this long at most. */
const IDLE_IN_TRANSACTION_MS = 5_000;
/** Where another connection is there to wait on. */
const BRIEFLY_MS = 200;
const PATIENTLY_MS = 1_500;

/**
 * Left to itself PostgreSQL plans anew whatever gets a list, at every call, which takes longer than running it. A plan that is
 * kept may be as old as the table: where that was empty, it would read all of it for ever. So only ways through an index.
 */
const GENERIC_PLANS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // A kept plan guesses that a third of a shop has changed, and starts two workers, 10 ms, to look for nothing.
  max_parallel_workers_per_gather: '0',
};

interface PoolKind {
  lockTimeoutMs: number;
  settings?: Record<string, string>;
}

/** Each kind of work has connections of its own, so that none waits for another's locks, searches or deep pages. */
const KINDS = {
  /** Batches of creations: never waits long, since one shop's lock would hold up all others. */
  creations: { lockTimeoutMs: BRIEFLY_MS, settings: GENERIC_PLANS },
  /** Moves and other changes of one record. */
  changes: { lockTimeoutMs: BRIEFLY_MS, settings: GENERIC_PLANS },
  /** What found a lock in its way and waits for it. */
  waiting: { lockTimeoutMs: PATIENTLY_MS, settings: GENERIC_PLANS },
  /** Lists and timelines. */
  lists: { lockTimeoutMs: PATIENTLY_MS, settings: GENERIC_PLANS },
  /** The admin app, searches, figures, clean-up; planned for their values, as lists with a rare status or a search need it. */
  admin: { lockTimeoutMs: PATIENTLY_MS, settings: { plan_cache_mode: 'force_custom_plan' } },
  /** The dispatcher. Its loss in a power cut does no harm: an attempt is made again. */
  webhooks: { lockTimeoutMs: PATIENTLY_MS, settings: { ...GENERIC_PLANS, synchronous_commit: 'off' } },
  /** Short reads: keys, rate limits, one record. */
  reads: { lockTimeoutMs: PATIENTLY_MS, settings: GENERIC_PLANS },
  /** Always one: however busy the others are, the process says that it is ready. */
  readiness: { lockTimeoutMs: PATIENTLY_MS, settings: { synchronous_commit: 'off' } },
} satisfies Record<keyof PoolSizes | 'readiness', PoolKind>;

/** Sent when a connection is made, not as a startup parameter, which a pooler in between may refuse. */
const settingsOf = ({ lockTimeoutMs, settings = {} }: PoolKind): string =>
  Object.entries({
    statement_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    ...settings,
  })
    .map(([name, value]) => `set ${name} = ${value}; `)
    .join('');

export interface Connections {
  clientSettings: Parameters<typeof clientConfig>[0];
  pool(kind: keyof typeof KINDS): CheckedPool;
  kyselyOn(pool: CheckedPool): Kysely<Tables>;
}

export const connectionsTo = (
  hosts: Hosts,
  sizes: PoolSizes,
  { onQuery, onFault }: Observer,
): Connections => {
  const clientSettings = {
    hosts,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
  };
  return {
    clientSettings,
    pool(kind) {
      const pool = new pg.Pool({
        ...clientConfig(clientSettings),
        Client: PreparingClient as unknown as typeof pg.Client,
        max: kind === 'readiness' ? 1 : sizes[kind],
        // Kept open: a webhook that is due after 16 s of silence must not wait for a new connection.
        idleTimeoutMillis: 0,
        onConnect: async (client) => {
          const settings = settingsOf(KINDS[kind]);
          // Several statements have several answers, which the types do not know.
          const answers: unknown = await client.query(`${settings}show transaction_read_only`);
          hosts.accept((answers as pg.QueryResult[]).at(-1)?.rows[0]?.transaction_read_only);
        },
      } as pg.PoolConfig);
      // An idle connection that breaks is replaced at the next query.
      pool.on('error', (error) => onFault('idle connection lost', error));
      return checked(pool, hosts, (error) => onFault('idle connection dead', error));
    },
    kyselyOn: (pool) =>
      new Kysely<Tables>({
        dialect: new PostgresDialect({ pool: pool as unknown as PostgresPool }),
        log: logQuery(onQuery),
      }),
  };
};
