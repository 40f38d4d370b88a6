import type { Compilable } from 'kysely';
import type { Page } from '../../contract/common.ts';
import { DEFAULT_ORDER, type ReturnSort, type SortOrder } from '../../contract/return-order.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { RMA_COLUMNS } from '../db/columns.ts';
import type { Db } from '../db/database.ts';
import { blank } from '../db/known-statements.ts';
import type { Tables } from '../db/tables.ts';
import { from } from './store.ts';
import { type Origin, totalOf } from './totals.ts';
import { isProgram, type RmaRow, type RmaTableName, visibleTo } from './visibility.ts';

/** What a list may be narrowed by, of either kind. */
export interface RmaFilters extends Page {
  updatedSince?: number | undefined;
  /** Staff only: free text, every word of which must be found. */
  q?: string | undefined;
  /** Staff only: made by programs or by people. */
  origin?: Origin | undefined;
  /** Staff only: newest first without. */
  sort?: ReturnSort | undefined;
  order?: SortOrder | undefined;
}

/** Each leads an index, whose end the tie-breaking number is or continues. */
const SORT_COLUMNS = { number: 'number', updatedAt: 'updated_at', status: 'status' } as const;

/** Columns by which a shop's own systems look for their RMAs; each has an index. */
const REFERENCES: ReadonlySet<string> = new Set(['external_ref', 'order_number']);

/** So many rows are read, or counted, in no time. */
const SHORT = 200;

const wordsOf = (q: string | undefined): string[] => q?.split(/\s+/).filter(Boolean) ?? [];

/** Newest first unless asked otherwise: a shop's numbers rise with every creation, so their order is stable and has an index. */
export const listRmas = async <Table extends RmaTableName>(
  ctx: Context,
  table: Table,
  caller: Caller,
  filters: RmaFilters,
  equal: Partial<Record<keyof Tables[Table], string | undefined>> & { status: string | undefined },
): Promise<{ rows: RmaRow<Table>[]; total: number }> => {
  const { page, limit, updatedSince, q, origin } = filters;
  const { sort = DEFAULT_ORDER.sort, order = DEFAULT_ORDER.order } = filters;
  const offset = (page - 1) * limit;
  const named = Object.keys(equal).filter((column) => equal[column as keyof typeof equal] !== undefined);
  const values: Record<string, unknown> = { ...equal, shop: caller.shop.id, updatedSince, limit, offset };
  // A search is built anew with its words; any other list is a statement that is known, with other values.
  const value = <Value>(name: string): Value => (q ? (values[name] as Value) : blank(name));
  const isKept = !q && updatedSince === undefined && named.every((column) => column === 'status');
  const isFew = !q && updatedSince === undefined && named.some((column) => REFERENCES.has(column));
  const isShort = (isKept || isFew) && origin === undefined && offset + limit <= SHORT;
  // With a time or a text in it, the best plan depends on which; otherwise an index leads to the page, and often straight.
  const planned = updatedSince === undefined && !q ? ctx.steady : ctx.db;
  const shape = [table, isProgram(caller), named, updatedSince !== undefined, origin, sort, order].join(' ');
  const run = async <Result>(db: Db, what: string, build: () => Compilable<Result>): Promise<Result[]> => {
    const statement = q ? build().compile() : ctx.known(`${what} ${shape}`, build, values);
    return (await db.executeQuery(statement)).rows;
  };

  const matching = () => {
    let query = from(planned, table).where(visibleTo(caller, value<string>('shop')));
    for (const column of named) query = query.where(column as 'order_number', '=', value<string>(column));
    if (updatedSince !== undefined) query = query.where('updated_at', '>=', value<number>('updatedSince'));
    if (origin) query = query.where('client_id', origin === 'API' ? 'is not' : 'is', null);
    for (const word of wordsOf(q)) query = query.where(ctx.contains('search_text', word.toLowerCase()));
    return query;
  };
  const ordered = (query: ReturnType<typeof matching>) =>
    query
      .orderBy(SORT_COLUMNS[sort], order)
      .$if(sort !== 'number', (among) => among.orderBy('number', order));
  const paged = () => ordered(matching()).limit(value<number>('limit')).offset(value<number>('offset'));
  // A search chooses by number alone, which an index answers without a look at the rows.
  const chosen = () =>
    q
      ? ordered(from(planned, table).where('shop_id', '=', caller.shop.id)).where(
          'number',
          'in',
          paged().select('number'),
        )
      : paged();
  const counting = () => matching().select((eb) => eb.fn.countAll<number>().as('total'));
  const countingFew = () =>
    planned
      .selectFrom(
        matching()
          .select('number')
          .limit(SHORT + 1)
          .as('few'),
      )
      .select((eb) => eb.fn.countAll<number>().as('total'));

  const [rows, kept] = await Promise.all([
    run(isShort ? ctx.reads : planned, 'page', () =>
      chosen()
        .select(RMA_COLUMNS[table])
        .$if(isFew, (page) => page.select(countingFew().as('total'))),
    ),
    isKept
      ? totalOf(ctx, caller.shop.id, table, {
          status: equal.status,
          origin: isProgram(caller) ? 'API' : origin,
        })
      : null,
  ]);
  const total = async (): Promise<number> => {
    if (kept !== null) return kept;
    // The last page tells how many there are.
    if (rows.length < limit && (rows.length > 0 || page === 1)) return offset + rows.length;
    // Few RMAs have the same reference: they were counted by the way.
    const few = rows[0]?.total ?? Number.POSITIVE_INFINITY;
    return few <= SHORT ? few : ((await run(planned, 'count', counting))[0]?.total ?? 0);
  };
  return { rows: rows as unknown as RmaRow<Table>[], total: await total() };
};
