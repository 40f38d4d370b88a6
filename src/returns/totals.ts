import { sql } from 'kysely';
import type { StoreList } from '../../contract/admin-returns.ts';
import { afterFailure } from '../db/database-errors.ts';
import { type Row, TOTAL_COLUMNS } from '../db/schema.ts';
import { type Change, change, statement } from '../db/statements.ts';
import { batched } from '../lib/batch.ts';
import type { Context } from '../service/context.ts';
import { hasOpenStatus, openStatuses, type RmaTableName } from './store.ts';

// How many RMAs a shop has of each kind, origin and status. Updated with every change, since counting takes longer the more
// there are.

export type Origin = Total['origin'];

export const originOf = ({ client_id }: { client_id: string | null }): Origin =>
  client_id === null ? 'STAFF' : 'API';

/** Under which status a return is counted: erased ones with an open status by themselves, since they are not open. */
export const countedAs = (
  table: RmaTableName,
  { status, erased_at }: { status: string; erased_at: number | null },
): string => (erased_at !== null && openStatuses(table).includes(status) ? `${status} ${ERASED}` : status);
const ERASED = 'erased';

/** Of a change the count is how many more there are, or fewer if negative. */
export type Total = Row<'rma_totals'>;

const COLUMNS = { shop_id: 'id', kind: 'text', origin: 'text', status: 'text', count: 'integer' } as const;

const addingTotals = statement(
  ({ rows }, { changes }: { changes: Total[] }) => sql`
    insert into rma_totals (shop_id, kind, origin, status, count)
    select shop_id, kind, origin, status, cast(sum(count) as bigint) from ${rows('more', COLUMNS, changes)}
    group by shop_id, kind, origin, status having sum(count) <> 0
    on conflict (shop_id, kind, origin, status) do update set count = rma_totals.count + excluded.count`,
);

export const saveTotals = (changes: Total[]): Change[] =>
  changes.length === 0 ? [] : [change(addingTotals, { changes })];

const totalsOfShops = statement(({ db, oneOf }, { shopIds }: { shopIds: string[] }) =>
  db
    .selectFrom('rma_totals')
    .select(TOTAL_COLUMNS)
    .where(sql<boolean>`shop_id ${oneOf('id', shopIds)}`),
);

export const readTotals = ({ reads, fill }: Context) =>
  batched(
    async (batch: { shopId: string; kind: RmaTableName }[]) => {
      const shopIds = [...new Set(batch.map(({ shopId }) => shopId))];
      const { rows } = await reads.executeQuery(fill(totalsOfShops, { shopIds }));
      return batch.map(({ shopId, kind }) =>
        rows.filter((row) => row.shop_id === shopId && row.kind === kind),
      );
    },
    { most: 100, atOnce: 2, afterFailure },
  );

export const totalOf = async (
  { totalsOf }: Context,
  shopId: string,
  kind: RmaTableName,
  wanted: { status?: string | undefined; open?: boolean | undefined; origin?: Origin | undefined },
): Promise<number> =>
  (await totalsOf({ shopId, kind }))
    .filter(({ status }) => wanted.status === undefined || status.replace(` ${ERASED}`, '') === wanted.status)
    .filter(({ status }) => wanted.open === undefined || wanted.open === openStatuses(kind).includes(status))
    .filter(({ origin }) => wanted.origin === undefined || origin === wanted.origin)
    .reduce((sum, { count }) => sum + count, 0);

const MOST_STORES = 500;

/** Where the shop's repairs were handed in, and how many of each are open: from one index alone, store by store. */
export const listStores = async ({ scans }: Context, shopId: string): Promise<StoreList> => {
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
