import { type RawBuilder, sql } from 'kysely';
import { lowestId } from '../lib/ids.ts';
import { PLANNED_ANEW } from './postgres/pools.ts';
import type { Tables } from './schema.ts';
import type { Database } from './types.ts';

/** SQLite deletes in the event loop, where a hundred rows of the largest kind take about 10 ms (ADR 0017). */
export const PRUNED_AT_ONCE = 100;

export interface RetentionRule<Column = string> {
  /** The indexed column with the age of a row: a time, or an id, which increases with time. */
  by: Column;
  only?: RawBuilder<boolean>;
  blank?: Column;
}

// Deletes about a hundred of the oldest rows; true if more may be left. It finds the age of the hundredth row and deletes up to that, both
// with the index. With a plan from when the table was empty, PostgreSQL would sort all due rows in each step (ADR 0021).
export const prune = async (
  { background }: Pick<Database, 'background'>,
  table: keyof Tables,
  { by, blank, only = blank ? sql`${sql.ref(blank)} is not null` : sql`true` }: RetentionRule,
  upToMs: number,
): Promise<boolean> => {
  const [rows, age, upTo] = [sql.table(table), sql.ref(by), by === 'id' ? lowestId(upToMs) : upToMs];
  const hundredth = sql`
    select ${age} from ${rows} where ${age} <= ${upTo} and ${only}
    order by ${age} limit 1 offset ${sql.lit(PRUNED_AT_ONCE - 1)} ${sql.raw(PLANNED_ANEW)}`;
  const clear = blank ? sql`update ${rows} set ${sql.ref(blank)} = null` : sql`delete from ${rows}`;
  const { numAffectedRows = 0n } = await sql`
    ${clear} where ${age} <= coalesce((${hundredth}), ${upTo}) and ${only}`.execute(background);
  return numAffectedRows >= BigInt(PRUNED_AT_ONCE);
};
