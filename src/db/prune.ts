import { type RawBuilder, sql } from 'kysely';
import type { Database } from './database.ts';
import { PLANNED_ANEW } from './postgres/pools.ts';
import type { Tables } from './schema.ts';

/** SQLite deletes inside the event loop: a hundred rows of the largest kind take it about 10 ms (ADR 0017). */
export const PRUNED_AT_ONCE = 100;

interface Past<Table extends keyof Tables> {
  table: Table;
  /** The indexed column that says how old a row is. */
  by: keyof Tables[Table] & string;
  /** Rows up to this age or id are deleted. */
  upTo: number | string;
  only?: RawBuilder<boolean>;
  /** Sets this column to null instead; `only` must skip rows where it is. */
  blank?: keyof Tables[Table] & string;
}

// Deletes the oldest rows, about a hundred; true: more may be left. It finds the age of the hundredth row and deletes up to that, both
// by the index. By a plan that PostgreSQL made while the table was empty, each step would sort all rows that are due (ADR 0021).
export const prune = async <Table extends keyof Tables>(
  { background }: Pick<Database, 'background'>,
  { table, by, upTo, only = sql<boolean>`true`, blank }: Past<Table>,
): Promise<boolean> => {
  const [rows, age] = [sql.table(table), sql.ref(by)];
  const hundredth = sql`
    select ${age} from ${rows} where ${age} <= ${upTo} and ${only}
    order by ${age} limit 1 offset ${sql.lit(PRUNED_AT_ONCE - 1)} ${sql.raw(PLANNED_ANEW)}`;
  const clear = blank ? sql`update ${rows} set ${sql.ref(blank)} = null` : sql`delete from ${rows}`;
  const { numAffectedRows = 0n } = await sql`
    ${clear} where ${age} <= coalesce((${hundredth}), ${upTo}) and ${only}`.execute(background);
  return numAffectedRows >= BigInt(PRUNED_AT_ONCE);
};
