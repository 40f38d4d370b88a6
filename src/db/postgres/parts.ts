import { setTimeout as pause } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { lowestId, timeOfId } from '../../ids.ts';
import type { AgingTable } from '../database.ts';
import { isLockTimeout } from '../errors.ts';
import type { Tables } from '../tables.ts';

// Events and deliveries are kept by month, so that a month that is past is dropped as a whole. Ids rise with time: a month is a
// range of ids, and an id alone leads to its part. What no month has room for lies in a part of its own, the "other" one.

/** The key that rows have beside their id. It holds within a part; from part to part the shop's counter sees to it (decision 212). */
const KEY_IN_EACH_PART: Record<AgingTable, string | null> = {
  events: 'shop_id, position',
  webhook_deliveries: null,
};
export const AGING_TABLES = Object.keys(KEY_IN_EACH_PART) as AgingTable[];

export interface Part {
  name: string;
  /** From this time on; null: from the beginning. */
  fromMs: number | null;
  /** Up to this time; null for the other part, which has no times. */
  toMs: number | null;
}

/** The beginning of a time's month, in UTC, or of a later one. */
export const monthOf = (ms: number, later = 0): number => {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1);
};

export const monthName = (ms: number): string => new Date(ms).toISOString().slice(0, 7).replace('-', '_');

export const otherPart = (table: AgingTable): string => `${table}_other`;

const BOUNDS = /FROM \((MINVALUE|'[^']+')\) TO \('([^']+)'\)/;

const timeOfBound = (bound: string | undefined): number | null =>
  bound === undefined || bound === 'MINVALUE' ? null : timeOfId(bound.replaceAll("'", ''));

/** The parts of a table; null where it is in one piece. */
export const partsOf = async (db: Kysely<Tables>, table: AgingTable): Promise<Part[] | null> => {
  const { rows } = await sql<{ name: string | null; bounds: string | null }>`
    select part.relname as name, pg_get_expr(part.relpartbound, part.oid) as bounds
    from pg_class as whole
    left join pg_inherits on inhparent = whole.oid
    left join pg_class as part on part.oid = inhrelid
    where whole.oid = to_regclass(${sql.lit(table)}) and whole.relkind = 'p'`.execute(db);
  if (rows.length === 0) return null;
  return rows.flatMap(({ name, bounds }): Part[] => {
    if (name === null) return [];
    const [, from, to] = BOUNDS.exec(bounds ?? '') ?? [];
    return [{ name, fromMs: timeOfBound(from), toMs: timeOfBound(to) }];
  });
};

export const isCovered = (parts: Part[], ms: number): boolean =>
  parts.some(({ fromMs, toMs }) => toMs !== null && ms < toMs && (fromMs === null || ms >= fromMs));

/** Whoever waits for a whole table holds up everybody behind: so not for long, and then once more later. */
const LOCK_TIMEOUT_MS = 100;
const STATEMENT_TIMEOUT_MS = 1_000;

/** Changes the parts of a table, one process at a time. What would have to wait too long changes nothing, and is tried again. */
export const changeParts = async <Result>(
  db: Kysely<Tables>,
  tries: number,
  work: (trx: Kysely<Tables>) => Promise<Result>,
): Promise<Result> => {
  for (let left = tries - 1; ; left--)
    try {
      return await db.transaction().execute(async (trx) => {
        await sql
          .raw(
            `set local lock_timeout = ${LOCK_TIMEOUT_MS}; set local statement_timeout = ${STATEMENT_TIMEOUT_MS}`,
          )
          .execute(trx);
        await sql`select pg_advisory_xact_lock(hashtextextended('handback parts', 0))`.execute(trx);
        return work(trx);
      });
    } catch (error) {
      if (!isLockTimeout(error) || left === 0) throw error;
      await pause(LOCK_TIMEOUT_MS * (1 + 2 * Math.random()));
    }
};

interface Index {
  name: string;
  /** The statement that makes it. */
  definition: string;
  /** Only then can it be one for all parts together. */
  hasId: boolean;
}

export const indexesOf = async (trx: Kysely<Tables>, table: AgingTable): Promise<Index[]> => {
  const { rows } = await sql<Index>`
    select index.relname as name,
      case when indisprimary
        then format('alter table %I add constraint %I %s', ${sql.lit(table)}, conname, pg_get_constraintdef(pg_constraint.oid))
        else pg_get_indexdef(indexrelid) end as definition,
      not indisunique or exists (
        select from pg_attribute where attrelid = indrelid and attname = 'id' and attnum = any (indkey)) as "hasId"
    from pg_index
    join pg_class as index on index.oid = indexrelid
    left join pg_constraint on conindid = indexrelid and contype = 'p'
    where indrelid = to_regclass(${sql.lit(table)})`.execute(trx);
  return rows;
};

/** Whose the table is, and what others may do with it, as statements that give another table the same. */
export const rightsOn = async (trx: Kysely<Tables>, table: AgingTable, heir: string): Promise<string[]> => {
  const { rows } = await sql<{ statement: string }>`
    select format('alter table %I owner to %I', ${sql.lit(heir)}::text, pg_get_userbyid(relowner)) as statement
    from pg_class where oid = to_regclass(${sql.lit(table)})
    union all
    select format('grant %s on table %I to %s%s', privilege_type, ${sql.lit(heir)}::text,
      case when grantee = 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end,
      case when is_grantable then ' with grant option' else '' end)
    from pg_class, aclexplode(relacl) where pg_class.oid = to_regclass(${sql.lit(table)}) and grantee <> relowner`.execute(
    trx,
  );
  return rows.map(({ statement }) => statement);
};

/** Made as a table of its own: to attach it then needs no lock that keeps others from the whole table. */
const newPart = async (trx: Kysely<Tables>, table: AgingTable, name: string): Promise<void> => {
  await sql`create table ${sql.id(name)} (like ${sql.id(table)} including all excluding indexes)`.execute(
    trx,
  );
  // Under names of their own, of the same kind; attached, they become parts of the whole table's.
  for (const { definition } of await indexesOf(trx, table))
    await sql.raw(definition.replaceAll(table, name)).execute(trx);
  const key = KEY_IN_EACH_PART[table];
  if (key) await sql`alter table ${sql.id(name)} add primary key (${sql.raw(key)})`.execute(trx);
  for (const right of await rightsOn(trx, table, name)) await sql.raw(right).execute(trx);
};

export const addOtherPart = async (trx: Kysely<Tables>, table: AgingTable): Promise<void> => {
  const name = otherPart(table);
  await newPart(trx, table, name);
  await sql`alter table ${sql.id(table)} attach partition ${sql.id(name)} default`.execute(trx);
};

/** So many rows are moved into their month when it is made. Where there are more, their month stays in the other part. */
const MOST_MOVED = 1_000;

/** Makes room for a month, and takes in those of its rows that came before it, unless they are too many. */
export const addMonth = async (trx: Kysely<Tables>, table: AgingTable, month: number): Promise<void> => {
  const [name, other] = [sql.id(`${table}_${monthName(month)}`), sql.id(otherPart(table))];
  const [from, to] = [sql.lit(lowestId(month)), sql.lit(lowestId(monthOf(month, 1)))];
  const itsRows = sql`from ${other} where id >= ${from} and id < ${to}`;
  // Nobody writes into the other part until all is done.
  await sql`lock table ${other} in access exclusive mode`.execute(trx);
  const { rows } = await sql<{ found: number }>`
    select count(*)::int as found from (select ${itsRows} limit ${sql.lit(MOST_MOVED + 1)}) as few`.execute(
    trx,
  );
  const found = rows[0]?.found ?? 0;
  if (found > MOST_MOVED) return;
  await newPart(trx, table, `${table}_${monthName(month)}`);
  if (found > 0)
    await sql`with moved as (delete ${itsRows} returning *) insert into ${name} select * from moved`.execute(
      trx,
    );
  await sql`alter table ${sql.id(table)} attach partition ${name} for values from (${from}) to (${to})`.execute(
    trx,
  );
};
