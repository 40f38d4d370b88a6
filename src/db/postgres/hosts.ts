import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import pg from 'pg';
import { parseAddress } from '../../db/server-address.ts';
import { ConfigError } from '../../lib/config-error.ts';
import { withTimeout } from '../../lib/time.ts';
import { timeLimit } from '../../lib/time-limits.ts';
import { REPLACED, withServer } from '../database-errors.ts';
import type { PoolerMode } from '../types.ts';

// DATABASE_URL may name several servers. This chooses the one that all connections of this process use (ADR 0019).

const RESPONSE_TIMEOUT_MS = 1_500;

/** Adds PostgreSQL's code to an error, so that it is logged and explained like one of PostgreSQL. */
const withCode = (error: Error, code: string): Error => Object.assign(error, { code, severity: 'ERROR' });
const readOnlyError = (message: string): Error => withCode(new Error(message), '25006');

/** How the driver would use TLS for this address (`ssl`, `sslmode` and its variants). It does not connect. */
export const tlsOf = (connectionString: string): 'none' | 'unchecked' | 'checked' => {
  const { ssl } = new pg.Client({ connectionString }) as { ssl: boolean | { rejectUnauthorized?: boolean } };
  if (!ssl) return 'none';
  return typeof ssl === 'object' && ssl.rejectUnauthorized === false ? 'unchecked' : 'checked';
};

/** Emits `move` when another server is in use, or the current one is lost. */
export class Hosts extends EventEmitter<{ move: [] }> {
  url: string;
  /** Increases with each change of server. Connections of an earlier era must not be used any more. */
  era = 0;
  readonly #urls: readonly string[];
  readonly #mustTakeWrites: boolean;
  #isKnown: boolean;
  /** Increases with each promotion: of two servers that accept writes, the one with the lower timeline has been replaced. */
  #newestTimeline = '';
  #search: Promise<void> | null = null;

  constructor(address: string) {
    super();
    const { urls, mustTakeWrites } = parseAddress(address);
    this.url = urls[0];
    this.#urls = urls;
    this.#mustTakeWrites = mustTakeWrites;
    this.#isKnown = this.#isAlone;
  }

  /** Connects to the server in use. If that is unknown or a connection to it failed, it looks for it first. */
  async connect<Value>(open: (url: string) => Promise<Value>): Promise<Value> {
    if (!this.#isKnown) {
      this.#search ??= this.#find().finally(() => {
        this.#search = null;
      });
      await this.#search;
    }
    const tried = this.url;
    try {
      return await open(tried);
    } catch (error) {
      if (tried === this.url) this.#isKnown = this.#isAlone;
      throw withServer(error, tried);
    }
  }

  /** Throws unless the server of this connection is acceptable. `readOnly` is its `transaction_read_only`. */
  accept(readOnly: string | undefined): void {
    if (this.#mustTakeWrites && readOnly !== 'off') throw readOnlyError('the server takes no writes');
  }

  refused(era: number): void {
    if (!this.#mustTakeWrites || era !== this.era) return;
    this.#isKnown = this.#isAlone;
    this.#move();
  }

  get #isAlone(): boolean {
    return this.#urls.length === 1;
  }

  #move(): void {
    this.era += 1;
    this.emit('move');
  }

  /** Asks all servers concurrently and takes the one that was promoted last; of equals the one in use, or the first. */
  async #find(): Promise<void> {
    const preferred = [this.url, ...this.#urls.filter((url) => url !== this.url)];
    const ask = (url: string) => this.#ask(url).catch((error) => Promise.reject(withServer(error, url)));
    const results = await Promise.allSettled(preferred.map(ask));
    const [first, ...others] = results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    if (!first) {
      const errors = results.map((each) => (each.status === 'rejected' ? each.reason : null));
      throw withCode(new AggregateError(errors, 'no host takes writes'), '08001');
    }
    const best = others.reduce((kept, next) => (next.timeline > kept.timeline ? next : kept), first);
    this.#newestTimeline = best.timeline;
    this.#isKnown = true;
    if (best.url === this.url) return;
    this.url = best.url;
    this.#move();
  }

  #ask(url: string) {
    return withClient(url, RESPONSE_TIMEOUT_MS, async (client) => {
      if (!this.#mustTakeWrites) return { url, timeline: '' };
      const { rows } = await client.query<{ read_only: string; timeline: string | null }>(
        `select current_setting('transaction_read_only') as read_only,
           case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`,
      );
      this.accept(rows[0]?.read_only);
      const timeline = rows[0]?.timeline ?? '';
      if (timeline < this.#newestTimeline) throw readOnlyError(REPLACED);
      return { url, timeline };
    });
  }
}

const withClient = async <Result>(
  connectionString: string,
  timeoutMs: number,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> => {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: timeLimit(timeoutMs),
    query_timeout: timeLimit(timeoutMs),
    application_name: 'handback',
  });
  // The current statement fails with the same error. Without a listener the event would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    // The connection is not used any more, so errors of its end do not matter.
    client.end().catch(() => {});
  }
};

// Settings, prepared statements and LISTEN belong to a session of the server. A pooler that gives each transaction any free
// session loses them without an error (ADR 0019). Comparing sessions finds that only by chance, since a transaction may get
// the same one again, while a notification never arrives.

/** In a dedicated session a notification arrives within milliseconds; this is enough for a busy machine. */
const NOTIFICATION_TIMEOUT_MS = 3_000;
const PROBE_TIMEOUT_MS = 2_500;

const SHARED_SESSIONS =
  'DATABASE_URL leads to a pooler that shares sessions between transactions, where LISTEN, prepared statements and settings get lost: ' +
  'use session mode there (PgBouncer: pool_mode = session), or connect to PostgreSQL itself';
const TOO_FEW_SERVERS =
  'DATABASE_URL leads to a pooler that has no second connection to spare: each process needs as many as DATABASE_POOLS adds up to, and four more ' +
  '(PgBouncer: default_pool_size)';

export const refuseSharedSessions = async (url: string): Promise<void> => {
  if ((await poolerModeAt(url)) === 'shared sessions') throw new ConfigError(SHARED_SESSIONS);
};

export const poolerModeOf = (address: string): Promise<PoolerMode> =>
  new Hosts(address).connect(poolerModeAt);

const poolerModeAt = (url: string): Promise<PoolerMode> =>
  withClient(url, PROBE_TIMEOUT_MS, async (client) => {
    // A pooler invents the process id for cancelling; PostgreSQL sends that of the serving process.
    const { processID } = client as pg.Client & { processID: number };
    if ((await pidOf(client, 'select 1')) === processID) return 'nothing';
    const isHeard = await withClient(url, PROBE_TIMEOUT_MS, (listener) => isNotified(listener, client));
    return isHeard ? 'sessions' : 'shared sessions';
  });

const isNotified = async (listener: pg.Client, caller: pg.Client): Promise<boolean> => {
  const channel = `handback_probe_${randomBytes(8).toString('hex')}`;
  const heard = new Promise<boolean>((resolve) => listener.once('notification', () => resolve(true)));
  const listening = await pidOf(listener, `listen ${channel}`).catch((error: Error) => {
    throw error.message === 'Query read timeout' ? new ConfigError(TOO_FEW_SERVERS) : error;
  });
  // Both are connected, so a common session means that sessions are shared.
  if ((await pidOf(caller, `notify ${channel}`)) === listening) return false;
  return withTimeout(heard, NOTIFICATION_TIMEOUT_MS, () => new Error('not heard')).catch(() => false);
};

/** Runs a statement and returns the server's process that ran it. Both are one query, so that no pooler can split them. */
const pidOf = async (client: pg.Client, statement: string): Promise<number | undefined> => {
  // The types do not know that several statements have several results.
  const results: unknown = await client.query(`${statement}; select pg_backend_pid() as pid`);
  return (results as pg.QueryResult<{ pid: number }>[]).at(-1)?.rows[0]?.pid;
};
