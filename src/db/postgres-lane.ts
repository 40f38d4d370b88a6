import type { Kysely } from 'kysely';
import type pg from 'pg';
import type { Insertion, Lane, OnQuery, Trx, Write } from './database.ts';
import { isUnavailable } from './errors.ts';
import type { Tables } from './tables.ts';

interface Held {
  client: Promise<pg.PoolClient>;
  users: number;
  broken: boolean;
}

/**
 * Transactions on one connection, which is taken from the pool while there are any. One may begin when the one before has
 * sent its changes: its first statements travel with them.
 */
export const postgresLane = (
  pool: pg.Pool,
  kyselyOn: (client: pg.PoolClient) => Kysely<Tables>,
  onQuery: OnQuery,
): Lane => {
  let held: Held | null = null;

  const take = (): Held => {
    held ??= { client: pool.connect(), users: 0, broken: false };
    held.users += 1;
    return held;
  };
  const leave = (mine: Held, client: pg.PoolClient): void => {
    mine.users -= 1;
    if (mine.users > 0) return;
    if (held === mine) held = null;
    client.release(mine.broken);
  };
  const observed = async (queries: Promise<unknown>[]): Promise<void> => {
    const startedAt = performance.now();
    let failed = true;
    try {
      await Promise.all(queries);
      failed = false;
    } finally {
      onQuery(performance.now() - startedAt, failed);
    }
  };

  return async (work, sent = () => {}) => {
    const mine = take();
    const client = await mine.client.catch((error) => {
      if (held === mine) held = null;
      throw error;
    });
    try {
      // Not waited for: it goes ahead of the first reads, and is known to have worked before anything is written.
      const begun = client.query('begin');
      begun.catch(() => {});
      const { writes, result } = await work(kyselyOn(client) as unknown as Trx).catch((error) => {
        client.query('rollback').catch(() => {});
        throw error;
      });
      await begun;
      // Where the changes fail, PostgreSQL takes the commit behind them as a rollback.
      const ended = [
        ...(writes.length > 0 ? [client.query(...oneStatement(writes))] : []),
        client.query('commit'),
      ];
      sent();
      await observed(ended);
      return result;
    } catch (error) {
      // It may be the connection's fault: whoever comes next takes another.
      if (held === mine) held = null;
      if (isUnavailable(error)) mine.broken = true;
      throw error;
    } finally {
      leave(mine, client);
    }
  };
};

/** Each change as a part of one statement. */
const oneStatement = (changes: Write[]): [string, unknown[]] => {
  const parts = changes.map((change) => ('table' in change ? insertOf(change) : change));
  const texts = parts.map(({ sql }) => sql);
  const name = texts.join();
  let together = joined.get(name);
  if (!together) {
    together = join(
      texts,
      parts.map(({ parameters }) => parameters.length),
    );
    if (joined.size >= MOST_JOINED) joined.clear();
    joined.set(name, together);
  }
  return [together, parts.flatMap(({ parameters }) => parameters)];
};

const MOST_JOINED = 500;
const joined = new Map<string, string>();

/** The numbers of each part's parameters moved up behind those of the parts before. */
const join = (texts: string[], counts: number[]): string => {
  let before = 0;
  const parts = texts.map((text, i) => {
    const moved = text.replaceAll(/\$(\d+)/g, (_, n) => `$${Number(n) + before}`);
    before += counts[i] ?? 0;
    return `change${i} as (${moved})`;
  });
  return `with ${parts.join()} select`;
};

/** The rows as one parameter, so that the statement's text does not depend on their number. */
const insertOf = ({ table, rows }: Insertion) => {
  const columns = Object.keys(rows[0] ?? {}).join();
  return {
    sql: `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, $1)`,
    parameters: [JSON.stringify(rows)],
  };
};
