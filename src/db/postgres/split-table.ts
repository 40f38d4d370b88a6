import { type Kysely, sql } from 'kysely';
import { lowestId, timeOfId } from '../../ids.ts';
import type { AgingTable } from '../database.ts';
import { isLockTimeout } from '../errors.ts';
import type { Notice } from '../schema-change.ts';
import type { Tables } from '../tables.ts';
import {
  AGING_TABLES,
  addMonth,
  addOtherPart,
  changeParts,
  indexesOf,
  monthName,
  monthOf,
  partsOf,
  rightsOn,
} from './parts.ts';

// Turns a table that is in one piece into one that is kept by month, while other processes go on using it. The table itself
// becomes the first part, so no row is copied. Each step may be repeated, and leaves a table that works (decision 213).

const TRIES = 20;
/** A rule that a broken-off upgrade left behind is made anew when its time comes as near as this. */
const NEAR_MS = 7 * 24 * 60 * 60 * 1000;

/** No right to change tables, somebody who holds one for too long, a row beyond the limit; anything else fails the start. */
const CANNOT_BE_HAD = new Set(['42501', '55P03', '57014', '23514']);

/** Where it cannot be had, all goes on with tables in one piece, and the next start tries again. */
export const splitTables = async (db: Kysely<Tables>, notice: Notice): Promise<void> => {
  for (const table of AGING_TABLES)
    try {
      if (await partsOf(db, table)) continue;
      const untilMs = await limitIds(db, table);
      if (untilMs === null) continue;
      await proveLimit(db, table);
      await changeParts(db, TRIES, (trx) => split(trx, table, untilMs));
    } catch (error) {
      const code = String((error as { code?: unknown }).code);
      if (!CANNOT_BE_HAD.has(code)) throw error;
      notice(
        `the table ${table} stays in one piece (${code}): what is past its time is deleted row by row; the next start tries again`,
      );
      await dropLimit(db, table);
    }
};

/** Says that no id lies beyond the first part. Once that is proven, no lock has to wait for a look at all rows. */
const ruleOf = (table: AgingTable): string => `${table}_until`;

/**
 * Far enough ahead to be no limit to anybody before the table is split: not for a shop whose times run ahead, and not for
 * weeks where this process dies in the next moment. null: another process has split the table.
 */
const limitIds = (db: Kysely<Tables>, table: AgingTable): Promise<number | null> =>
  changeParts(db, TRIES, async (trx) => {
    if (await partsOf(trx, table)) return null;
    const { rows } = await sql<{ now: number; known: string | null; newest: string | null; last_at: number }>`
      select extract(epoch from clock_timestamp())::float8 * 1000 as now,
        (select pg_get_constraintdef(oid) from pg_constraint
         where conrelid = to_regclass(${sql.lit(table)}) and conname = ${sql.lit(ruleOf(table))}) as known,
        (select id from ${sql.id(table)} order by id desc limit 1) as newest,
        (select coalesce(max(last_at), 0)::float8 from shop_counters) as last_at`.execute(trx);
    const { now = 0, known = null, newest = null, last_at = 0 } = rows[0] ?? {};
    const latest = Math.max(last_at, newest === null ? 0 : timeOfId(newest));
    const knownMs = timeOfId(/'([0-9a-f-]{36})'/.exec(known ?? '')?.[1] ?? lowestId(0));
    if (knownMs > Math.max(now + NEAR_MS, latest)) return knownMs;
    const untilMs = Math.max(monthOf(now, 2), monthOf(latest, 1));
    await sql`alter table ${sql.id(table)} drop constraint if exists ${sql.id(ruleOf(table))},
      add constraint ${sql.id(ruleOf(table))} check (id < ${sql.lit(lowestId(untilMs))}) not valid`.execute(
      trx,
    );
    return untilMs;
  });

/** Reads all rows and holds up nobody meanwhile. */
const proveLimit = async (db: Kysely<Tables>, table: AgingTable): Promise<void> => {
  try {
    await sql`alter table ${sql.id(table)} validate constraint ${sql.id(ruleOf(table))}`.execute(db);
  } catch (error) {
    // Another process was faster.
    if (!(await partsOf(db, table))) throw error;
  }
};

const dropLimit = async (db: Kysely<Tables>, table: AgingTable): Promise<void> => {
  const { rows } = await sql`select from pg_constraint
    where conrelid = to_regclass(${sql.lit(table)}) and conname = ${sql.lit(ruleOf(table))}`.execute(db);
  if (rows.length === 0) return;
  const drop = sql`alter table if exists ${sql.id(table)} drop constraint if exists ${sql.id(ruleOf(table))}`;
  await changeParts(db, TRIES, (trx) => drop.execute(trx)).catch((error) => {
    // It limits nobody for weeks, and the next start makes it anew or drops it.
    if (!isLockTimeout(error)) throw error;
  });
};

/** In one transaction that changes the catalogue alone. What runs meanwhile waits for it, and then finds the new table by its name. */
const split = async (trx: Kysely<Tables>, table: AgingTable, untilMs: number): Promise<void> => {
  await sql`lock table only ${sql.id(table)} in access exclusive mode`.execute(trx);
  if (await partsOf(trx, table)) return;
  const first = `${table}_until_${monthName(untilMs)}`;
  const indexes = await indexesOf(trx, table);
  const rights = await rightsOn(trx, table, table);
  await sql`alter table ${sql.id(table)} rename to ${sql.id(first)}`.execute(trx);
  for (const { name } of indexes)
    await sql`alter index ${sql.id(name)} rename to ${sql.id(name.replace(table, first))}`.execute(trx);
  await sql`create table ${sql.id(table)} (like ${sql.id(first)} including all excluding indexes excluding constraints)
    partition by range (id)`.execute(trx);
  // Each as it was on the table, and with the same name; attached, the first part brings its own along.
  for (const { definition, hasId } of indexes) if (hasId) await sql.raw(definition).execute(trx);
  for (const right of rights) await sql.raw(right).execute(trx);
  const { rows } = await sql`select from ${sql.id(first)} limit 1`.execute(trx);
  if (rows.length > 0) await attachFirst(trx, table, first, untilMs);
  else await sql`drop table ${sql.id(first)}`.execute(trx);
  await addOtherPart(trx, table);
  if (rows.length === 0) await addFirstMonths(trx, table);
};

const attachFirst = async (
  trx: Kysely<Tables>,
  table: AgingTable,
  first: string,
  untilMs: number,
): Promise<void> => {
  await sql`alter table ${sql.id(table)} attach partition ${sql.id(first)}
    for values from (minvalue) to (${sql.lit(lowestId(untilMs))})`.execute(trx);
  await sql`alter table ${sql.id(first)} drop constraint ${sql.id(ruleOf(table))}`.execute(trx);
};

/** The last month too: a backup that is restored has rows of it. */
const addFirstMonths = async (trx: Kysely<Tables>, table: AgingTable): Promise<void> => {
  const { rows } = await sql<{
    now: number;
  }>`select extract(epoch from clock_timestamp())::float8 * 1000 as now`.execute(trx);
  for (const later of [-1, 0, 1]) await addMonth(trx, table, monthOf(rows[0]?.now ?? 0, later));
};
