import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { withTimeout } from '../../lib/with-timeout.ts';
import { ConfigError } from '../../service/config.ts';
import type { PoolerMode } from '../transfer.ts';
import { Hosts, withClient } from './hosts.ts';

// Settings, prepared statements and LISTEN belong to a session of the server. A pooler that gives every transaction any free
// session loses them without an error (ADR 0019). Comparing sessions finds that only by chance, since a transaction may get
// the same one again: what is certain is that a notification never arrives.

/** In a session of its own a notification comes within milliseconds; this is what a busy machine may need. */
const NOTIFICATION_TIMEOUT_MS = 3_000;
const ANSWER_TIMEOUT_MS = 2_500;

const SHARED =
  'DATABASE_URL leads to a pooler that shares sessions between transactions, where LISTEN, prepared statements and settings get lost: ' +
  'use session mode there (PgBouncer: pool_mode = session), or connect to PostgreSQL itself';
const TOO_FEW =
  'DATABASE_URL leads to a pooler that has no second connection to spare: each process needs as many as DATABASE_POOLS adds up to, and four more ' +
  '(PgBouncer: default_pool_size)';

/** Throws where a pooler shares sessions. `client` is connected to `url`. */
export const refuseSharedSessions = async (client: pg.ClientBase, url: string): Promise<void> => {
  if ((await poolerBefore(client, url)) === 'shared sessions') throw new ConfigError(SHARED);
};

export const poolerModeOf = (address: string): Promise<PoolerMode> =>
  new Hosts(address).connect((url) =>
    withClient(url, ANSWER_TIMEOUT_MS, (client) => poolerBefore(client, url)),
  );

const poolerBefore = async (client: pg.ClientBase, url: string): Promise<PoolerMode> => {
  // A pooler invents the number that clients cancel by; PostgreSQL gives the process that serves them.
  const { processID } = client as pg.ClientBase & { processID: number };
  if ((await pidOf(client, 'select 1')) === processID) return 'nothing';
  const isHeard = await withClient(url, ANSWER_TIMEOUT_MS, (listener) => isNotified(listener, client));
  return isHeard ? 'sessions' : 'shared sessions';
};

const isNotified = async (listener: pg.Client, caller: pg.ClientBase): Promise<boolean> => {
  const channel = `handback_probe_${randomBytes(8).toString('hex')}`;
  const heard = new Promise<boolean>((resolve) => listener.once('notification', () => resolve(true)));
  const listening = await pidOf(listener, `listen ${channel}`).catch((error: Error) => {
    throw error.message === tooLate().message ? new ConfigError(TOO_FEW) : error;
  });
  // Both are connected, so one session for both is shared.
  if ((await pidOf(caller, `notify ${channel}`)) === listening) return false;
  return withTimeout(heard, NOTIFICATION_TIMEOUT_MS, tooLate).catch(() => false);
};

/** The driver's own words, by which a start knows that the server is away. */
const tooLate = (): Error => new Error('Query read timeout');

/** Runs a statement and gives the process of the server that did. Both go as one, so that no pooler can split them. */
const pidOf = async (client: pg.ClientBase, statement: string): Promise<number | undefined> => {
  const asking = client.query(`${statement}; select pg_backend_pid() as pid`);
  // Several statements have several answers, which the types do not know.
  const answers: unknown = await withTimeout(asking, ANSWER_TIMEOUT_MS, tooLate);
  return (answers as pg.QueryResult<{ pid: number }>[]).at(-1)?.rows[0]?.pid;
};
