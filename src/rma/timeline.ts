import { isId, type Page, type TimelineEntry } from '../../contract/common.ts';
import type { TimelineType } from '../../contract/lifecycle.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Row } from '../db/schema.ts';
import { TIMELINE_COLUMNS } from '../db/schema.ts';
import { type Engine, statement } from '../db/statements.ts';
import { instant } from '../instant.ts';
import { answerPage, type PageAnswer, toldByLastPage } from '../paging/page-answer.ts';
import { longestText, rowCount, type Sized, sizedColumns } from '../paging/row-size.ts';
import { fromStored } from '../stored-json.ts';
import { findRma, notFound } from './store.ts';
import { isApiClient, type RmaTableName } from './visibility.ts';

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
  if (!isId(rmaId)) throw notFound(rmaId);
  const [rows] = await Promise.all([findPage(ctx, rmaId, page), findRma(ctx, table, caller, rmaId)]);
  const source = {
    name: 'timeline',
    view: isApiClient(caller) ? viewForProgram : viewEntry,
    keyOf: ({ at }: Entry) => at,
    readWhole: (times: number[]) => readEntries(ctx, rmaId, times),
  };
  const total = await totalOf(ctx, rmaId, rows.length, page);
  return answerPage(ctx, caller.shop.id, source, { rows, total }, page);
};

const entriesOf = ({ db }: Engine, rma: string) => db.selectFrom('timeline').where('rma_id', '=', rma);

const pageOfTimeline = statement(
  (engine, params: { rma: string; limit: number; offset: number; longest: number }) =>
    entriesOf(engine, params.rma)
      .select(sizedColumns(COLUMNS, params.longest))
      .orderBy('at')
      .limit(rowCount(params.limit))
      .offset(rowCount(params.offset)),
);

const findPage = async (ctx: Context, rma: string, { page, limit }: Page): Promise<Sized<Entry>[]> => {
  const values = { rma, limit, offset: (page - 1) * limit, longest: longestText(limit) };
  return (await ctx.lists.executeQuery<Sized<Entry>>(ctx.fill(pageOfTimeline, values))).rows;
};

const partOfTimeline = statement(
  (engine, { rma, first, last }: { rma: string; first: number; last: number }) =>
    entriesOf(engine, rma).select(TIMELINE_COLUMNS).where('at', '>=', first).where('at', '<=', last),
);

/** Times only rise along a timeline, so a slice is everything between its first and its last time. */
const readEntries = async (ctx: Context, rma: string, times: number[]): Promise<Entry[]> => {
  const [first = 0, last = first] = [times[0], times.at(-1)];
  return (await ctx.lists.executeQuery(ctx.fill(partOfTimeline, { rma, first, last }))).rows;
};

const lengthOfTimeline = statement((engine, { rma }: { rma: string }) =>
  entriesOf(engine, rma).select((eb) => eb.fn.countAll<number>().as('total')),
);

/** Most timelines end on their first page; then no count is needed. */
const totalOf = async (ctx: Context, rma: string, found: number, page: Page): Promise<number> => {
  const count = () => ctx.lists.executeQuery(ctx.fill(lengthOfTimeline, { rma }));
  return toldByLastPage(page, found) ?? (await count()).rows[0]?.total ?? 0;
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

/** Where programs see less of an entry's data: who of the team works on what, and what was wrong with a customer's details. */
const DATA_FOR_PROGRAMS: Partial<Record<TimelineType, (data: TimelineEntry['data']) => object>> = {
  ASSIGNED: () => ({}),
  CORRECTED: (data) => ({ fields: Object.keys(data) }),
};

/** People without a name appear by their e-mail address, which only their colleagues may see; no name holds an @ (decision 46). */
const viewForProgram = (row: Entry): TimelineEntry => {
  const entry = viewEntry(row);
  const { actor, type, data } = entry;
  const name = actor.type === 'USER' && actor.name.includes('@') ? 'Staff' : actor.name;
  return { ...entry, actor: { ...actor, name }, data: { ...(DATA_FOR_PROGRAMS[type]?.(data) ?? data) } };
};
