import type { Context } from '../context.ts';
import { RMA_COLUMNS } from '../db/columns.ts';
import type { Db } from '../db/database.ts';
import type { Row } from '../db/tables.ts';
import { lowestId } from '../ids.ts';
import { searchTextOf } from './search-text.ts';
import { from } from './store.ts';
import type { RmaTableName } from './visibility.ts';

// A release that searches in more than the one before renews the texts that earlier ones wrote, while everybody goes on working.

/** What the migration of such a release leaves behind (0015 is one). */
const NOTE = 'search-texts-to-renew';
interface Note {
  /** When it was first read. */
  sinceMs?: number;
  /** The id after which to go on; empty at first. */
  offline_repairs: string;
  trade_returns: string;
}

const TABLES = ['offline_repairs', 'trade_returns'] as const;
const AT_ONCE = 50;
/** For so long processes of the release before may still run, and write texts as they know them. */
const OTHERS_MAY_RUN_MS = 7 * 24 * 60 * 60 * 1000;
/** A return may be committed so much later than its id says. */
const LATE_MS = 60 * 60 * 1000;

/** Renews the search texts of some returns; true when more is due. */
export const renewSearchTexts = async (
  { withoutFsync: db }: Pick<Context, 'withoutFsync'>,
  nowMs: number,
): Promise<boolean> => {
  const found = await db
    .selectFrom('installation')
    .select('value')
    .where('name', '=', NOTE)
    .executeTakeFirst();
  if (!found) return false;
  const note = JSON.parse(found.value) as Note;
  note.sinceMs ??= nowMs;
  let isMoreDue = false;
  for (const table of TABLES) {
    const rows = await renewAfter(db, table, note[table]);
    isMoreDue ||= rows.length === AT_ONCE;
    note[table] = nextAfter(note[table], rows, nowMs);
  }
  const isOver = !isMoreDue && nowMs > note.sinceMs + OTHERS_MAY_RUN_MS;
  await replaceNote(db, found.value, isOver ? null : JSON.stringify(note));
  return isMoreDue;
};

const renewAfter = async (db: Db, table: RmaTableName, after: string): Promise<{ id: string }[]> => {
  const rows = await from(db, table)
    .select(RMA_COLUMNS[table] as typeof RMA_COLUMNS.offline_repairs)
    .$if(after !== '', (query) => query.where('id', '>', after))
    .orderBy('id')
    .limit(AT_ONCE)
    .execute();
  for (const row of rows) await renew(db, table, row);
  return rows;
};

const renew = async (db: Db, table: RmaTableName, row: Row<'offline_repairs'>): Promise<void> => {
  const text = searchTextOf(row);
  if (text === row.search_text) return;
  await db
    .updateTable(table as 'offline_repairs')
    .set({ search_text: text })
    .where('id', '=', row.id)
    // Somebody may have changed it meanwhile.
    .where('search_text', '=', row.search_text)
    .execute();
};

/** Behind the last one; at the end of the table not so far that a late one would be missed. */
const nextAfter = (after: string, rows: { id: string }[], nowMs: number): string => {
  const last = rows.at(-1)?.id ?? after;
  const settled = lowestId(nowMs - LATE_MS);
  return rows.length < AT_ONCE && last > settled ? settled : last;
};

/** Of two processes that renew the same rows, one writes how far it came. */
const replaceNote = async (db: Db, before: string, after: string | null): Promise<void> => {
  await (after === null
    ? db.deleteFrom('installation').where('name', '=', NOTE).where('value', '=', before).execute()
    : db
        .updateTable('installation')
        .set({ value: after })
        .where('name', '=', NOTE)
        .where('value', '=', before)
        .execute());
};
