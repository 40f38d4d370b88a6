import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { AgingTable, Database, Observer } from '../database.ts';
import type { Tables } from '../tables.ts';
import {
  AGING_TABLES,
  addMonth,
  changeParts,
  isCovered,
  monthOf,
  otherPart,
  type Part,
  partsOf,
} from './parts.ts';

/** This month and the next. Each one that is empty costs every look at the queue a little, and a month is time enough. */
const MONTHS_AHEAD = [0, 1];
const TRIES = 5;
/** Beyond this nobody counts. */
const MOST_COUNTED = 1_000;

const NO_RIGHT = '42501';

type Months = Pick<Database, 'prepareMonths' | 'forgetMonths'>;

/** Keeps the parts of tables that are kept by month. Where a table is in one piece, or the user may not change it, rows are forgotten one by one. */
export const keepMonths = (db: Kysely<Tables>, { onFault }: Pick<Observer, 'onFault'>): Months => {
  const told = new Set<string>();
  const tellOnce = (what: string, about: string, error: unknown): void => {
    if (!told.has(what + about)) onFault(what, error);
    told.add(what + about);
  };
  /** What fails here is tried again with the next clean-up. */
  const attempt = async (what: string, work: () => Promise<void>): Promise<'no right' | undefined> => {
    try {
      await work();
    } catch (error) {
      if ((error as { code?: unknown }).code !== NO_RIGHT) onFault(what, error);
      else {
        tellOnce('no right to change tables', '', error);
        return 'no right';
      }
    }
    return undefined;
  };
  const tellStrays = (table: AgingTable, count: number): void => {
    if (count === 0) told.delete(STRAYS + table);
    else tellOnce(STRAYS, table, new Error(`${table}: ${count}${count === MOST_COUNTED ? ' or more' : ''}`));
  };

  return {
    async prepareMonths(nowMs) {
      const wanted = MONTHS_AHEAD.map((later) => monthOf(nowMs, later));
      for (const table of AGING_TABLES) {
        const parts = await partsOf(db, table);
        if (!parts) continue;
        for (const month of wanted.filter((each) => !isCovered(parts, each)))
          await attempt('a month was not made', () => makeMonth(db, table, month));
        await attempt('rows were not counted', async () => tellStrays(table, await countStrays(db, table)));
      }
    },
    async forgetMonths({ table, beforeMs, unless = [] }) {
      const parts = await partsOf(db, table);
      if (!parts) return beforeMs;
      let rowsBeforeMs = Math.min(beforeMs, ...parts.flatMap(({ fromMs }) => fromMs ?? []));
      for (const part of parts) {
        const { toMs } = part;
        if (toMs === null || toMs > beforeMs) continue;
        const outcome = await attempt('a month was not dropped', () => dropPart(db, table, part, unless));
        if (outcome === 'no right') rowsBeforeMs = Math.max(rowsBeforeMs, toMs);
      }
      return rowsBeforeMs;
    },
  };
};

/** Clocks that are wrong, or a user without the right to make months. */
const STRAYS = 'rows outside of every month';

const countStrays = async (db: Kysely<Tables>, table: AgingTable): Promise<number> => {
  const some = sql`select from ${sql.id(otherPart(table))} limit ${sql.lit(MOST_COUNTED)}`;
  const { rows } = await sql<{
    found: number;
  }>`select count(*)::int as found from (${some}) as few`.execute(db);
  return rows[0]?.found ?? 0;
};

const makeMonth = (db: Kysely<Tables>, table: AgingTable, month: number): Promise<void> =>
  changeParts(db, TRIES, async (trx) => {
    // Another process may have been faster.
    if (!isCovered((await partsOf(trx, table)) ?? [], month)) await addMonth(trx, table, month);
  });

/** Drops a part and all of its rows, unless one of them is still needed. */
const dropPart = async (
  db: Kysely<Tables>,
  table: string,
  { name }: Part,
  unless: readonly RawBuilder<boolean>[],
): Promise<void> => {
  const isNeeded = async (on: Kysely<Tables>): Promise<boolean> => {
    for (const condition of unless) {
      const { rows } = await sql`select from ${sql.id(name)} where ${condition} limit 1`.execute(on);
      if (rows.length > 0) return true;
    }
    return false;
  };
  if (await isNeeded(db)) return;
  await changeParts(db, TRIES, async (trx) => {
    // First the whole table, as everybody does who reads it: locks in another order could wait for each other in a circle.
    await sql`lock table only ${sql.id(table)} in access exclusive mode`.execute(trx);
    if (!(await isNeeded(trx))) await sql`drop table if exists ${sql.id(name)}`.execute(trx);
  });
};
