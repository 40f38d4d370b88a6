import { CompiledQuery, sql } from 'kysely';
import type { Context } from '../../src/api/context.ts';
import type { Db } from '../../src/db/types.ts';
import { ENGINE } from './harness.ts';

// How a statement finds its rows, as the engine says.

type Reader = 'db' | 'lists' | 'shortLists' | 'scans' | 'background' | 'webhooks' | 'reads';
export interface Watched extends CompiledQuery {
  /** The connections that ran it. */
  on: Reader;
}

/** The context, with a look at every query that these readers run. */
export const watched = (ctx: Context): { ctx: Context; statements: Watched[] } => {
  const statements: Watched[] = [];
  const compiled = new Map<object, CompiledQuery>();
  const seen = (on: Reader): Db =>
    ctx[on].withPlugin({
      transformQuery({ node, queryId }) {
        compiled.set(queryId, ctx[on].getExecutor().compileQuery(node, queryId));
        return node;
      },
      // Only what is run: a query within another is transformed by itself, too.
      async transformResult({ queryId, result }) {
        const statement = compiled.get(queryId);
        if (statement) statements.push({ ...statement, on });
        return result;
      },
    });
  const fill: Context['fill'] = (statement, values) => {
    const filled = ctx.fill(statement, values);
    compiled.set(filled.queryId, filled);
    return filled;
  };
  const readers = {
    db: seen('db'),
    lists: seen('lists'),
    shortLists: seen('shortLists'),
    scans: seen('scans'),
    background: seen('background'),
    webhooks: seen('webhooks'),
    reads: seen('reads'),
  };
  return { ctx: { ...ctx, fill, ...readers }, statements };
};

/** Each place where a plan reads a table: how, and by which condition of an index. */
export const readsIn = (plan: string[]): string[] =>
  ENGINE === 'sqlite'
    ? plan.filter((line) => /^(SEARCH|SCAN) (?!few$)/.test(line))
    : plan.flatMap((line, i) =>
        / Scan /.test(line) && !/Bitmap Heap|Subquery/.test(line)
          ? `${line.replace(/ {2}\(.*/, '')} ${plan[i + 1] ?? ''}`
          : [],
      );

const literal = (value: unknown): string =>
  Array.isArray(value)
    ? `'{${value.join()}}'`
    : typeof value === 'string'
      ? `'${value.replaceAll("'", "''")}'`
      : String(value);

/** The plan of a statement on these connections, line by line; on PostgreSQL the one that is made once and kept, where they keep it. */
export const planOf = (db: Db, { sql: text, parameters }: CompiledQuery): Promise<string[]> =>
  db.connection().execute(async (connection) => {
    if (ENGINE === 'sqlite') {
      const { rows } = await connection.executeQuery<{ detail: string }>(
        CompiledQuery.raw(`explain query plan ${text}`, [...parameters]),
      );
      return rows.map(({ detail }) => detail);
    }
    await sql`prepare explained as ${sql.raw(text)}`.execute(connection);
    const values = parameters.length === 0 ? '' : `(${parameters.map(literal).join()})`;
    const { rows } = await sql<{ 'QUERY PLAN': string }>`explain execute explained${sql.raw(values)}`.execute(
      connection,
    );
    await sql`deallocate explained`.execute(connection);
    return rows.map((row) => row['QUERY PLAN'].trim());
  });
