import { isId, type Page, type TimelineEntry } from '../../contract/common.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { TIMELINE_COLUMNS } from '../db/columns.ts';
import { blank } from '../db/known-statements.ts';
import type { Row } from '../db/tables.ts';
import { ServiceError } from '../errors.ts';
import { instant } from '../instant.ts';
import { answerPage, type PageAnswer } from '../paging/page-answer.ts';
import { longestText, rowCount, type Sized, sizedColumns } from '../paging/row-size.ts';
import { fromStored } from '../stored-json.ts';
import { findRma } from './store.ts';
import { isProgram, type RmaTableName } from './visibility.ts';

type Entry = Row<'timeline'>;

const COLUMNS = { all: TIMELINE_COLUMNS, longTexts: ['note'] } as const;

/** A page of an RMA's timeline, oldest first, for callers who may see the RMA. */
export const readTimeline = async (
  ctx: Context,
  table: RmaTableName,
  caller: Caller,
  rmaId: string,
  page: Page,
): Promise<PageAnswer<TimelineEntry>> => {
  if (!isId(rmaId)) throw new ServiceError('NOT_FOUND');
  const [rows] = await Promise.all([findPage(ctx, rmaId, page), findRma(ctx, table, caller, rmaId)]);
  const source = {
    name: 'timeline',
    view: isProgram(caller) ? viewForProgram : viewEntry,
    keyOf: ({ at }: Entry) => at,
    readWhole: (times: number[]) => readEntries(ctx, rmaId, times),
  };
  const total = await totalOf(ctx, rmaId, rows.length, page);
  return answerPage(ctx, caller.shop.id, source, { rows, total }, page);
};

const entriesOf = ({ db }: Context) => db.selectFrom('timeline').where('rma_id', '=', blank<string>('rma'));

const findPage = async (ctx: Context, rma: string, { page, limit }: Page): Promise<Sized<Entry>[]> => {
  const statement = ctx.known(
    'page of a timeline',
    () =>
      entriesOf(ctx)
        .select(sizedColumns(COLUMNS, blank<number>('longest')))
        .orderBy('at')
        .limit(rowCount(blank('limit')))
        .offset(rowCount(blank('offset'))),
    { rma, limit, offset: (page - 1) * limit, longest: longestText(limit) },
  );
  return (await ctx.steady.executeQuery<Sized<Entry>>(statement)).rows;
};

/** Times only rise along a timeline, so a slice is everything between its first and its last time. */
const readEntries = async (ctx: Context, rma: string, times: number[]): Promise<Entry[]> => {
  const statement = ctx.known(
    'part of a timeline',
    () =>
      entriesOf(ctx)
        .select(TIMELINE_COLUMNS)
        .where('at', '>=', blank<number>('first'))
        .where('at', '<=', blank<number>('last')),
    { rma, first: times[0], last: times.at(-1) },
  );
  return (await ctx.steady.executeQuery(statement)).rows;
};

/** Most timelines end on their first page; then no count is needed. */
const totalOf = async (ctx: Context, rma: string, found: number, { page, limit }: Page): Promise<number> => {
  if (found < limit && (found > 0 || page === 1)) return (page - 1) * limit + found;
  const statement = ctx.known(
    'length of a timeline',
    () => entriesOf(ctx).select((eb) => eb.fn.countAll<number>().as('total')),
    { rma },
  );
  return (await ctx.steady.executeQuery(statement)).rows[0]?.total ?? 0;
};

const viewEntry = (row: Entry): TimelineEntry => ({
  id: row.id,
  type: row.type,
  at: instant(row.at),
  actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
  fromStatus: row.from_status,
  toStatus: row.to_status,
  note: row.note,
  data: fromStored('data', row.data),
});

/** People without a name appear by their e-mail address, which only their colleagues may see (decision 46). */
const viewForProgram = (row: Entry): TimelineEntry => {
  const entry = viewEntry(row);
  const { actor } = entry;
  return actor.type === 'USER' && actor.name.includes('@')
    ? { ...entry, actor: { ...actor, name: 'Staff' } }
    : entry;
};
