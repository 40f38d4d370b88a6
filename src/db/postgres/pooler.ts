import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { ConfigError } from '../../config.ts';
import type { Between } from '../transfer.ts';
import { parseAddress } from './address.ts';
import { hostsOf } from './hosts.ts';

// Settings, prepared statements and LISTEN belong to a session of the server. A pooler that gives every transaction whichever
// session is free loses them, and says nothing (decision 205).

/** In a session of its own a call comes within milliseconds; it is waited for as long as a busy machine may need. */
const CALL_WITHIN_MS = 3_000;
const ANSWER_WITHIN_MS = 2_500;

const SHARED =
  'DATABASE_URL leads to a pooler that shares sessions between transactions, where LISTEN, prepared statements and settings get lost: ' +
  'use session mode there (PgBouncer: pool_mode = session), or connect to PostgreSQL itself';
const TOO_FEW =
  'DATABASE_URL leads to a pooler that has no second connection to spare: each process needs as many as DATABASE_POOLS adds up to, and three more ' +
  '(PgBouncer: default_pool_size)';

/** Throws where a pooler in between shares sessions. `client` is an open connection, `url` where it leads to. */
export const refuseSharedSessions = async (client: pg.ClientBase, url: string): Promise<void> => {
  if ((await poolerBefore(client, url)) === 'shared sessions') throw new ConfigError(SHARED);
};

const poolerBefore = async (client: pg.ClientBase, url: string): Promise<Between> => {
  if (!(await isPooled(client))) return 'nothing';
  return (await isCallHeard(client, url)) ? 'sessions' : 'shared sessions';
};

/** What stands between us and the server that takes writes. */
export const between = (address: string): Promise<Between> =>
  hostsOf(parseAddress(address)).connect(async (url) => {
    const client = newClient(url);
    try {
      await client.connect();
      return await poolerBefore(client, url);
    } finally {
      // What was learnt is known, however it ends.
      client.end().catch(() => {});
    }
  });

const newClient = (connectionString: string): pg.Client => {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: ANSWER_WITHIN_MS,
    application_name: 'handback',
  });
  // Whoever waits for an answer is told.
  client.on('error', () => {});
  return client;
};

/** A pooler makes up the number that clients cancel by; PostgreSQL gives the process that serves them. */
const isPooled = async (client: pg.ClientBase): Promise<boolean> =>
  (await pidOf(client, 'select 1')) !== (client as unknown as { processID: number }).processID;

/** One session listens, another one calls. Where the first had to give its session back, it hears nothing. */
const isCallHeard = async (caller: pg.ClientBase, url: string): Promise<boolean> => {
  const channel = `handback_probe_${randomBytes(8).toString('hex')}`;
  const listener = newClient(url);
  const heard = new Promise<boolean>((resolve) => listener.once('notification', () => resolve(true)));
  try {
    await listener.connect();
    const listening = await pidOf(listener, `listen ${channel}`).catch((error) => {
      throw isTooLate(error) ? new ConfigError(TOO_FEW) : error;
    });
    const calling = await pidOf(caller, `notify ${channel}`);
    // Both are open, so one session for both is shared: nobody need wait for the call.
    return (
      listening !== calling && (await Promise.race([heard, pause(CALL_WITHIN_MS, false, { ref: false })]))
    );
  } finally {
    // It is of no use any more, however it ends.
    listener.end().catch(() => {});
  }
};

/** Runs a statement and gives the process of the server that did. Both go as one, so that no pooler can split them. */
const pidOf = async (client: pg.ClientBase, statement: string): Promise<number | undefined> => {
  const text = `${statement}; select pg_backend_pid() as pid`;
  // Several statements have several answers, and this time limit is the driver's own: the types know neither.
  const answers: unknown = await client.query({ text, query_timeout: ANSWER_WITHIN_MS } as pg.QueryConfig);
  return (answers as pg.QueryResult<{ pid: number }>[]).at(-1)?.rows[0]?.pid;
};

const isTooLate = (error: unknown): boolean =>
  error instanceof Error && error.message === 'Query read timeout';
