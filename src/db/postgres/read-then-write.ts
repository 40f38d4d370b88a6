import { Kysely, PostgresDialect, type PostgresPool, sql } from 'kysely';
import type { Insertion, Observer, ReadThenWrite, Trx, Write } from '../database.ts';
import { isConflict, isLockTimeout, isUnavailable } from '../errors.ts';
import { logQuery } from '../log-query.ts';
import type { Tables } from '../schema.ts';
import {
  asJson,
  type Change,
  change,
  type compiledStatements,
  statement,
  statementsBy,
} from '../statements.ts';
import type { CheckedPool, Connection } from './connections.ts';

interface Held {
  connection: Promise<Connection>;
  users: number;
  broken: boolean;
}

type Statements = ReturnType<typeof compiledStatements>;

const MOST_TRIES = 3;

/**
 * A connection for each transaction. Conflicts are tried again. Where a lock is in the way, it is tried again in the second
 * pool: whoever waits long, waits where nobody else needs the connection.
 */
export const readThenWrite = (
  first: CheckedPool,
  toWait: CheckedPool,
  statements: Statements,
  observer: Observer,
): ReadThenWrite => {
  return async (work) => {
    let pool = first;
    for (let tries = 1; ; tries++) {
      try {
        return await pipelinedTransactions(pool, statements, observer)(work);
      } catch (error) {
        if (isLockTimeout(error) && pool !== toWait) pool = toWait;
        else if (!isConflict(error) || tries === MOST_TRIES) throw error;
      }
    }
  };
};

/**
 * Transactions on one connection, which is taken from the pool while there are any. One may begin when the one before has
 * sent its changes: its first statements travel with them.
 */
export const pipelinedTransactions = (
  pool: CheckedPool,
  statements: Statements,
  observer: Observer,
): ReadThenWrite => {
  let held: Held | null = null;

  const take = (): Held => {
    held ??= { connection: pool.connect(), users: 0, broken: false };
    held.users += 1;
    return held;
  };
  const leave = (mine: Held, connection: Connection): void => {
    mine.users -= 1;
    if (mine.users > 0) return;
    if (held === mine) held = null;
    connection.release(mine.broken);
  };

  return async (work, sent = () => {}) => {
    const mine = take();
    const connection = await mine.connection.catch((error) => {
      if (held === mine) held = null;
      throw error;
    });
    try {
      // Not waited for: it goes ahead of the first reads, and is known to have worked before anything is written.
      const begun = connection.query('begin');
      // Whoever awaits it below hears of its error.
      begun.catch(() => {});
      const { writes, result } = await work(transactionOn(connection, observer)).catch(async (error) => {
        // Waited for, so that all that was sent has been answered before somebody else gets the connection.
        await connection
          .query('rollback')
          .catch((fault: unknown) => observer.onFault('rollback failed', fault));
        throw error;
      });
      await begun;
      // Where the changes fail, PostgreSQL takes the commit behind them as a rollback.
      const ended = [
        ...(writes.length > 0 ? [connection.query(...oneStatement(statements, writes))] : []),
        connection.query('commit'),
      ];
      sent();
      await observed(ended, observer);
      return result;
    } catch (error) {
      // It may be the connection's fault: whoever comes next takes another.
      if (held === mine) held = null;
      if (isUnavailable(error) && !isLockTimeout(error) && !isConflict(error)) mine.broken = true;
      throw error;
    } finally {
      leave(mine, connection);
    }
  };
};

const observed = async (queries: Promise<unknown>[], { onQuery }: Observer): Promise<void> => {
  const startedAt = performance.now();
  let failed = true;
  try {
    await Promise.all(queries);
    failed = false;
  } finally {
    onQuery(performance.now() - startedAt, failed);
  }
};

const onConnection = new WeakMap<Connection, Kysely<Tables>>();

/** Sends what is asked for together in one packet, where Kysely's own transactions wait for each answer. */
const transactionOn = (connection: Connection, { onQuery }: Observer): Trx => {
  let kysely = onConnection.get(connection);
  if (!kysely) {
    const handle = { query: connection.query.bind(connection), release() {} };
    const alone = { connect: async () => handle, end: async () => {} } as unknown as PostgresPool;
    kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: alone }), log: logQuery(onQuery) });
    onConnection.set(connection, kysely);
  }
  return kysely as unknown as Trx;
};

/** All changes as one statement. */
const oneStatement = (statements: Statements, writes: Write[]): [string, unknown[]] => {
  const changes = writes.map((write) => ('table' in write ? insertion(write) : write));
  const { sql: text, parameters } = statements.together(changes);
  return [text, [...parameters]];
};

/** The rows as one parameter, so that the statement's text does not depend on their number. */
const insertInto = statementsBy(({ table, columns }: { table: string; columns: string[] }) =>
  statement((_engine, { rows }: { rows: object[] }) => {
    const names = sql.join(columns.map((column) => sql.id(column)));
    return sql`insert into ${sql.table(table)} (${names})
      select ${names} from json_populate_recordset(null::${sql.table(table)}, ${asJson(rows)})`;
  }),
);

const insertion = ({ table, rows }: Insertion): Change =>
  change(insertInto({ table, columns: Object.keys(rows[0] ?? {}) }), { rows });
