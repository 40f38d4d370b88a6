import pg from 'pg';
import type { Between } from '../transfer.ts';

const WITHIN_MS = 2_500;
/** A pooler that shares sessions hands out the one that was given back last; a busy one may need several tries to be seen. */
const ROUNDS = 3;

/**
 * What stands between us and the server. A pooler makes up the number by which clients cancel, where PostgreSQL gives that of
 * the process that serves. It shares sessions if one process serves two clients that are both connected, or two serve one.
 */
export const between = async (connectionString: string): Promise<Between> => {
  const first = await connect(connectionString);
  try {
    const pid = await pidOf(first);
    if (pid === (first as unknown as { processID: number }).processID) return 'nothing';
    for (let round = 0; round < ROUNDS; round++)
      if (await isShared(first, pid, connectionString)) return 'shared sessions';
    return 'sessions';
  } finally {
    await end(first);
  }
};

const connect = async (connectionString: string): Promise<pg.Client> => {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: WITHIN_MS,
    query_timeout: WITHIN_MS,
    application_name: 'handback',
  });
  // Whoever waits for an answer is told.
  client.on('error', () => {});
  await client.connect();
  return client;
};

const pidOf = async (client: pg.Client): Promise<number | undefined> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;

/** The second client holds what it got, so that the first must be given another. */
const isShared = async (first: pg.Client, pid: number | undefined, connectionString: string) => {
  const second = await connect(connectionString);
  try {
    await second.query('begin');
    return (await pidOf(second)) === pid || (await pidOf(first)) !== pid;
  } finally {
    await end(second);
  }
};

/** What was learnt is known, however it ends. */
const end = (client: pg.Client): Promise<void> => client.end().catch(() => {});
