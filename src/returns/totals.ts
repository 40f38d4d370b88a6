import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { StoreList } from '../../contract/admin-returns.ts';
import type { ReturnTable } from '../../contract/kinds.ts';
import type { Row } from '../db/schema.ts';
import { change, statement } from '../db/statements.ts';
import type { Change, Db } from '../db/types.ts';
import type { Core } from '../platform/core.ts';
import { hasEndedStatus, hasOpenStatus, openStatuses } from './store.ts';

// The number of a shop's returns by kind, origin and status. Every change updates it, since counting takes longer the more
// there are.

export type Origin = Total['origin'];

export const originOf = ({ receiver_id }: { receiver_id: string | null }): Origin =>
  receiver_id === null ? 'STAFF' : 'API';

/** The status under which a return is counted. Erased returns with an open status are counted separately, since they are not open. */
export const countedAs = (
  table: ReturnTable,
  { status, erased_at }: { status: string; erased_at: number | null },
): string => (erased_at !== null && openStatuses(table).includes(status) ? `${status} ${ERASED}` : status);
const ERASED = 'erased';

/** In a change, the count is the difference. */
export type Total = Row<'rma_totals'>;

const TOTAL_TYPES = {
  shop_id: 'id',
  kind: 'text',
  origin: 'text',
  status: 'text',
  count: 'integer',
} as const;

const addingTotals = statement(
  ({ rows }, { changes }: { changes: Total[] }) => sql`
    insert into rma_totals (shop_id, kind, origin, status, count)
    select shop_id, kind, origin, status, cast(sum(count) as bigint) from ${rows('more', TOTAL_TYPES, changes)}
    group by shop_id, kind, origin, status having sum(count) <> 0
    on conflict (shop_id, kind, origin, status) do update set count = rma_totals.count + excluded.count`,
);

export const saveTotals = (changes: Total[]): Change[] =>
  changes.length === 0 ? [] : [change(addingTotals, { changes })];

const STATUS = sql<string>`replace(status, ${sql.lit(` ${ERASED}`)}, '')`;
const SUM = sql<number>`cast(coalesce(sum(count), 0) as bigint)`;

const NARROWED = {
  status: (_table, status) => sql<SqlBool>`${STATUS} = ${status}`,
  open: (table) =>
    sql<SqlBool>`status in (${sql.join(openStatuses(table).map((status) => sql.lit(status)))})`,
  ended: hasEndedStatus,
  fromApi: () => sql<SqlBool>`origin = 'API'`,
  fromStaff: () => sql<SqlBool>`origin = 'STAFF'`,
} satisfies Record<string, (table: ReturnTable, status: unknown) => RawBuilder<SqlBool>>;

export const isTotalKept = (filters: readonly string[]): boolean =>
  filters.every((name) => Object.hasOwn(NARROWED, name));

export const keptTotal = (
  table: ReturnTable,
  filters: readonly string[],
  { shop, status }: { shop: unknown; status?: unknown },
): RawBuilder<number> => {
  const narrowed = filters.map((name) => NARROWED[name as keyof typeof NARROWED](table, status));
  const conditions = [sql`shop_id = ${shop}`, sql`kind = ${sql.lit(table)}`, ...narrowed];
  return sql`(select ${SUM} from rma_totals where ${sql.join(conditions, sql` and `)})`;
};

const KNOWN_FOR_MS = 60_000;
const MOST_SHOPS = 10_000;

/** A shop's totals, at most a minute old, which is enough to decide whether a list may be slow. */
export class RecentTotals {
  readonly #read: (shopId: string) => Promise<Total[]>;
  readonly #known = new Map<string, { totals: Total[]; untilMs: number }>();

  constructor({ reads }: { reads: Db }) {
    this.#read = (shopId) =>
      reads.selectFrom('rma_totals').selectAll().where('shop_id', '=', shopId).execute();
  }

  /** The number of returns with another origin, which a list of this origin skips: all of them, or those in one status. */
  async ofOthers(
    shopId: string,
    table: ReturnTable,
    origin: Origin,
    status: string | undefined,
  ): Promise<number> {
    const passed = (await this.#of(shopId)).filter(
      (total) =>
        total.kind === table &&
        total.origin !== origin &&
        (status === undefined || [status, `${status} ${ERASED}`].includes(total.status)),
    );
    return passed.reduce((sum, { count }) => sum + count, 0);
  }

  async #of(shopId: string): Promise<Total[]> {
    const nowMs = performance.now();
    const known = this.#known.get(shopId);
    if (known && nowMs < known.untilMs) return known.totals;
    const totals = await this.#read(shopId);
    if (this.#known.size >= MOST_SHOPS) this.#known.clear();
    this.#known.set(shopId, { totals, untilMs: nowMs + KNOWN_FOR_MS });
    return totals;
  }
}

export const totalsByStatus = async (
  { reads }: Core,
  shopId: string,
  kind: ReturnTable,
): Promise<Map<string, number>> => {
  const rows = await reads
    .selectFrom('rma_totals')
    .select([STATUS.as('status'), SUM.as('total')])
    .where('shop_id', '=', shopId)
    .where('kind', '=', kind)
    .groupBy(STATUS)
    .execute();
  return new Map(rows.map(({ status, total }) => [status, total]));
};

const MOST_STORES = 500;

/** The stores of the shop's repairs, with the number of open ones. It reads one index, store by store. */
export const listStores = async ({ scans }: Core, shopId: string): Promise<StoreList> => {
  const rows = await scans
    .selectFrom('offline_repairs')
    .select(sql<number>`sum(case when ${hasOpenStatus('offline_repairs')} then 1 else 0 end)`.as('open'))
    .select('store_id as storeId')
    .where('shop_id', '=', shopId)
    .groupBy('store_id')
    .orderBy('open', 'desc')
    .orderBy('store_id')
    .limit(sql.lit(MOST_STORES))
    .execute();
  return { items: rows.map(({ storeId, open }) => ({ storeId, open: Number(open) })) };
};
