import { isId, type Page, type TimelineEntry } from '../../contract/common.ts';
import type { ReturnTable } from '../../contract/kinds.ts';
import type { TimelineType } from '../../contract/lifecycle.ts';
import { type Row, TIMELINE_COLUMNS } from '../db/schema.ts';
import { parseJsonColumn, withExactNumbers } from '../lib/json.ts';
import { toIso } from '../lib/time.ts';
import { MAX_FULL_ROWS, type PageResponse, totalOfLastPage } from '../paging/page-response.ts';
import type { Caller } from '../shops/plans.ts';
import { listsFor } from './list.ts';
import type { ReturnServices } from './services.ts';
import { findReturn, isApiClient, notFound } from './store.ts';

type Entry = Row<'timeline'>;

/**
 * Most timelines are shorter. The rest of a longer one is read between other large responses: with 50, eight of 26 MB delayed
 * others sevenfold.
 */
const FIRST_OF_LONG = 20;

export const readTimeline = async (
  ctx: ReturnServices,
  table: ReturnTable,
  caller: Caller,
  rma: string,
  page: Page,
): Promise<PageResponse<TimelineEntry>> => {
  if (!isId(rma)) throw notFound(rma);
  const all = listsFor(ctx, caller).selectFrom('timeline').where('rma_id', '=', rma);
  const first = page.limit <= MAX_FULL_ROWS ? page.limit : FIRST_OF_LONG;
  const [rows] = await Promise.all([
    all
      .select(TIMELINE_COLUMNS)
      .orderBy('at')
      .limit(first)
      .offset((page.page - 1) * page.limit)
      .execute(),
    findReturn(ctx, table, caller, rma),
  ]);
  // Most timelines end here and need no count. Of further entries only the times are read, which strictly increase.
  const last = rows[first - 1]?.at;
  const rest =
    last === undefined || first === page.limit
      ? []
      : await all
          .select('at')
          .where('at', '>', last)
          .orderBy('at')
          .limit(page.limit - first)
          .execute();
  const count = () => all.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const total = totalOfLastPage(page, rows.length + rest.length) ?? (await count()).total;
  const source = {
    name: 'timeline',
    view: isApiClient(caller) ? viewForClient : viewTimelineEntry,
    keyOf: ({ at }: Entry) => at,
    readRows: (times: number[]) =>
      all
        .select(TIMELINE_COLUMNS)
        .where('at', '>=', Math.min(...times))
        .where('at', '<=', Math.max(...times))
        .execute(),
  };
  return ctx.pageResponses.build(
    caller.shop.id,
    source,
    { rows, keys: rest.map(({ at }) => at), total },
    page,
  );
};

export const viewTimelineEntry = (row: Entry): TimelineEntry => ({
  id: row.id,
  type: row.type,
  at: toIso(row.at),
  actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
  fromStatus: row.from_status,
  toStatus: row.to_status,
  note: row.note,
  data: parseJsonColumn('data', row.data, withExactNumbers),
});

/** Entries of which API clients see less: who of the team works on what, and what was wrong with a customer's details. */
const DATA_FOR_CLIENTS: Partial<Record<TimelineType, (data: TimelineEntry['data']) => object>> = {
  ASSIGNED: () => ({}),
  WAITING_SET: ({ what, until }) => ({ what, until }),
  CORRECTED: (data) => ({ fields: Object.keys(data) }),
};

/** People without a name appear with their email, which only their colleagues may see. No name contains an @ (docs/contract.md). */
const viewForClient = (row: Entry): TimelineEntry => {
  const entry = viewTimelineEntry(row);
  const { actor, type, data } = entry;
  const name = actor.type === 'USER' && actor.name.includes('@') ? 'Staff' : actor.name;
  return { ...entry, actor: { ...actor, name }, data: { ...(DATA_FOR_CLIENTS[type]?.(data) ?? data) } };
};
