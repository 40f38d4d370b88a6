import { isId, type Page, type TimelineEntry } from '../../contract/common.ts';
import type { TimelineType } from '../../contract/lifecycle.ts';
import { type Row, TIMELINE_COLUMNS } from '../db/schema.ts';
import { rowCount, statement, statementsBy } from '../db/statements.ts';
import { parseJsonColumn } from '../lib/json.ts';
import { toIso } from '../lib/time.ts';
import { answerPage, type PageAnswer, totalOfLastPage, WHOLE_ROWS } from '../paging/page-answer.ts';
import type { Context } from '../service/context.ts';
import type { Caller } from '../shops/plans.ts';
import { listsFor } from './list.ts';
import { findRma, isApiClient, notFound, type RmaTableName } from './store.ts';

type Entry = Row<'timeline'>;

/** Entries after a time, oldest first: whole, or only their times, which are different along a timeline and only rise. */
const entriesAfter = statementsBy(({ whole }: { whole: boolean }) =>
  statement(({ db }, params: { rma: string; after: number; limit: number; offset: number }) =>
    db
      .selectFrom('timeline')
      .select(whole ? TIMELINE_COLUMNS : ['at'])
      .where('rma_id', '=', params.rma)
      .where('at', '>', params.after)
      .orderBy('at')
      .limit(rowCount(params.limit))
      .offset(rowCount(params.offset))
      .$castTo<Entry>(),
  ),
);

const entriesBetween = statement(
  ({ db }, { rma, first, last }: { rma: string; first: number; last: number }) =>
    db
      .selectFrom('timeline')
      .select(TIMELINE_COLUMNS)
      .where('rma_id', '=', rma)
      .where('at', '>=', first)
      .where('at', '<=', last),
);

const lengthOfTimeline = statement(({ db }, { rma }: { rma: string }) =>
  db
    .selectFrom('timeline')
    .where('rma_id', '=', rma)
    .select((eb) => eb.fn.countAll<number>().as('total')),
);

export const readTimeline = async (
  ctx: Context,
  table: RmaTableName,
  caller: Caller,
  rma: string,
  page: Page,
): Promise<PageAnswer<TimelineEntry>> => {
  if (!isId(rma)) throw notFound(rma);
  const db = listsFor(ctx, caller);
  const read = async (whole: boolean, after: number, limit: number, offset: number) =>
    (await db.executeQuery(ctx.fill(entriesAfter({ whole }), { rma, after, limit, offset }))).rows;
  const first = Math.min(page.limit, WHOLE_ROWS);
  const [rows] = await Promise.all([
    read(true, 0, first, (page.page - 1) * page.limit),
    findRma(ctx, table, caller, rma),
  ]);
  // Most timelines end here, and then no count is needed either.
  const last = rows[first - 1]?.at;
  const rest = last === undefined ? [] : await read(false, last, page.limit - first, 0);
  const count = async () => (await db.executeQuery(ctx.fill(lengthOfTimeline, { rma }))).rows[0]?.total;
  const total = totalOfLastPage(page, rows.length + rest.length) ?? (await count()) ?? 0;
  const source = {
    name: 'timeline',
    view: isApiClient(caller) ? viewForProgram : viewEntry,
    keyOf: ({ at }: Entry) => at,
    readRows: async (times: number[]) => {
      const [from = 0, to = from] = [times[0], times.at(-1)];
      return (await db.executeQuery(ctx.fill(entriesBetween, { rma, first: from, last: to }))).rows;
    },
  };
  return answerPage(ctx, caller.shop.id, source, { rows, keys: rest.map(({ at }) => at), total }, page);
};

const viewEntry = (row: Entry): TimelineEntry => ({
  id: row.id,
  type: row.type,
  at: toIso(row.at),
  actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
  fromStatus: row.from_status,
  toStatus: row.to_status,
  note: row.note,
  data: parseJsonColumn('data', row.data),
});

/** Where programs see less of an entry's data: who of the team works on what, and what was wrong with a customer's details. */
const DATA_FOR_PROGRAMS: Partial<Record<TimelineType, (data: TimelineEntry['data']) => object>> = {
  ASSIGNED: () => ({}),
  CORRECTED: (data) => ({ fields: Object.keys(data) }),
};

/** People without a name appear by their e-mail address, which only their colleagues may see; no name holds an @ (docs/contract.md). */
const viewForProgram = (row: Entry): TimelineEntry => {
  const entry = viewEntry(row);
  const { actor, type, data } = entry;
  const name = actor.type === 'USER' && actor.name.includes('@') ? 'Staff' : actor.name;
  return { ...entry, actor: { ...actor, name }, data: { ...(DATA_FOR_PROGRAMS[type]?.(data) ?? data) } };
};
