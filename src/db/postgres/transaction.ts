import { type CompiledQuery, sql } from 'kysely';
import { isConflict, isLockTimeout, isUnavailable, takesNoWrites } from '../database-errors.ts';
import { mutableColumns, type Tables } from '../schema.ts';
import { asJson, type CompiledStatements, change, statement, statementsBy } from '../statements.ts';
import type { Change, ChangeTransactions, Decide, Write } from '../types.ts';
import type { CheckedPool, Connection } from './pools.ts';

/** The wait for a lock is short, so that a shop whose lock is never released leaves the connection to the next one (`change-queue.ts`). */
const LOCK_WAIT_MS = 300;

export const changeTransactions = (
  pool: CheckedPool,
  statements: CompiledStatements,
): Pick<ChangeTransactions, 'pipelined' | 'waiting'> => {
  const pipeline = new Pipeline(pool, statements);
  const begin = `begin; set local lock_timeout = ${LOCK_WAIT_MS}`;
  return {
    pipelined: (reads, decide, sent) => pipeline.run('begin', reads, decide, sent),
    waiting: (reads, decide) => new Pipeline(pool, statements).run(begin, reads, decide),
  };
};

interface SharedConnection {
  connection: Promise<Connection>;
  users: number;
  isBroken: boolean;
}

/** Transactions on one connection. The next one may begin when the current one has sent its writes, in the same packet. */
class Pipeline {
  readonly #pool: CheckedPool;
  readonly #statements: CompiledStatements;
  #held: SharedConnection | null = null;

  constructor(pool: CheckedPool, statements: CompiledStatements) {
    this.#pool = pool;
    this.#statements = statements;
  }

  async run<Result>(
    begin: string,
    reads: readonly CompiledQuery[],
    decide: Decide<Result>,
    sent: () => void = () => {},
  ): Promise<Result> {
    const held = this.#take();
    try {
      const connection = await held.connection;
      const { writes, result } = await this.#read(connection, begin, reads, decide);
      const last = writes.length > 0 ? [this.#write(connection, writes)] : [];
      // If the writes fail, PostgreSQL treats the commit after them as a rollback.
      last.push(connection.query('commit'));
      sent();
      await this.#observed(last);
      return result;
    } catch (error) {
      // The connection may have failed, so the next transaction takes another.
      if (this.#held === held) this.#held = null;
      const isOfStatement = isLockTimeout(error) || isConflict(error) || takesNoWrites(error);
      if (isUnavailable(error) && !isOfStatement) held.isBroken = true;
      throw error;
    } finally {
      this.#leave(held);
    }
  }

  #take(): SharedConnection {
    this.#held ??= { connection: this.#pool.connect(), users: 0, isBroken: false };
    this.#held.users += 1;
    return this.#held;
  }

  #leave(held: SharedConnection): void {
    held.users -= 1;
    if (held.users > 0) return;
    if (this.#held === held) this.#held = null;
    held.connection.then(
      (connection) => connection.release(held.isBroken),
      () => {},
    );
  }

  async #read<Result>(
    connection: Connection,
    begin: string,
    reads: readonly CompiledQuery[],
    decide: Decide<Result>,
  ) {
    try {
      // These are sent in this order in one packet: the first read takes the locks before the others run.
      const [, ...results] = await this.#observed([
        connection.query(begin),
        ...reads.map(({ sql: text, parameters }) => connection.query(text, parameters)),
      ]);
      return decide(results.map(({ rows }) => rows));
    } catch (error) {
      // This waits until all responses have arrived, before another transaction gets the connection.
      await connection
        .query('rollback')
        .catch((failure: unknown) => this.#pool.observer.onDatabaseError('rollback failed', failure));
      throw error;
    }
  }

  #write(connection: Connection, writes: Write[]): Promise<unknown> {
    const { sql: text, parameters } = this.#statements.together(writes.map(asChange));
    return connection.query(text, parameters);
  }

  async #observed<Rows>(queries: Promise<Rows>[]): Promise<Rows[]> {
    const startedAt = performance.now();
    let failed = true;
    try {
      const results = await Promise.all(queries);
      failed = false;
      return results;
    } finally {
      this.#pool.observer.onQuery(performance.now() - startedAt, failed);
    }
  }
}

export const namesOf = (columns: readonly string[]) => sql.join(columns.map((column) => sql.id(column)));

/** Passes the rows as one parameter, so that the statement does not depend on their number. */
export const insertRows = (table: string, columns: readonly string[], rows: object[]) =>
  sql`insert into ${sql.table(table)} (${namesOf(columns)})
    select ${namesOf(columns)} from json_populate_recordset(null::${sql.table(table)}, ${asJson(rows)})`;

const insertInto = statementsBy(({ table, columns }: { table: string; columns: string[] }) =>
  statement((_engine, { rows }: { rows: object[] }) => insertRows(table, columns, rows)),
);

/** These columns are never null, and are only sent if they change. */
const LONG_COLUMNS = ['faulty_item', 'search_text', 'receipts'];

/** Sets every column that may change, so that the statement is always the same. */
const updateOf = statementsBy((table: keyof Tables) =>
  statement((_engine, { rows }: { rows: object[] }) => {
    const set = mutableColumns(table).map((column) =>
      LONG_COLUMNS.includes(column)
        ? sql`${sql.id(column)} = coalesce(${sql.ref(`after.${column}`)}, ${sql.ref(`stored.${column}`)})`
        : sql`${sql.id(column)} = ${sql.ref(`after.${column}`)}`,
    );
    return sql`update ${sql.table(table)} as stored set ${sql.join(set)}
      from json_populate_recordset(null::${sql.table(table)}, ${asJson(rows)}) as after where stored.id = after.id`;
  }),
);

const asChange = (write: Write): Change => {
  if ('table' in write) {
    const { table, rows } = write;
    return change(insertInto({ table, columns: Object.keys(rows[0] ?? {}) }), { rows });
  }
  if (!('updated' in write)) return write;
  const { updated, rows } = write;
  const columns = mutableColumns(updated);
  const sent = rows.map(({ id, set, after }) => {
    const from = (column: string) => (LONG_COLUMNS.includes(column) ? set : after);
    return { id, ...Object.fromEntries(columns.map((name) => [name, Reflect.get(from(name), name)])) };
  });
  return change(updateOf(updated), { rows: sent });
};
