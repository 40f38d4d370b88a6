import type { ExpressionBuilder, SelectQueryBuilder, Updateable } from 'kysely';
import { isId } from '../../contract/common.ts';
import type { OfflineRepairQuery } from '../../contract/offline-repair.ts';
import type { Caller } from '../caller.ts';
import type { Db, Trx } from '../db/database.ts';
import type { OfflineRepairTable, Row, Tables } from '../db/tables.ts';
import { ServiceError } from '../errors.ts';
import { visibleTo } from '../rma/visibility.ts';
import { isDangerous } from '../shops/dangerous-goods.ts';

type Repair = Row<'offline_repairs'>;

export const insertRepair = (trx: Trx, repair: Omit<Repair, 'is_dangerous'>, sku: string): Promise<Repair> =>
  trx
    .insertInto('offline_repairs')
    .values((eb) => ({
      ...repair,
      is_dangerous: isDangerous(eb as unknown as ExpressionBuilder<Tables, never>, repair.shop_id, sku),
    }))
    .returningAll()
    .executeTakeFirstOrThrow();

const one = (db: Db | Trx, caller: Caller, id: string) =>
  db.selectFrom('offline_repairs').selectAll().where('id', '=', id).where(visibleTo(caller));

const orNotFound = async (id: string, read: () => Promise<Repair | undefined>): Promise<Repair> => {
  // A malformed id names nothing; PostgreSQL would even refuse to compare with it.
  const row = isId(id) ? await read() : undefined;
  if (!row) throw new ServiceError('NOT_FOUND');
  return row;
};

export const findRepair = (db: Db, caller: Caller, id: string): Promise<Repair> =>
  orNotFound(id, () => one(db, caller, id).executeTakeFirst());

/** As it stands now, held until the transaction ends, so that moves of one repair happen one after another. */
export const lockRepair = (trx: Trx, caller: Caller, id: string): Promise<Repair> =>
  orNotFound(id, () => one(trx, caller, id).forUpdate().executeTakeFirst());

export const updateRepair = (trx: Trx, id: string, change: Updateable<OfflineRepairTable>): Promise<Repair> =>
  trx
    .updateTable('offline_repairs')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();

/** Query parameter → column, for those that must simply be equal. */
const EQUAL = {
  status: 'status',
  externalRef: 'external_ref',
  externalSource: 'external_source',
  orderNumber: 'order_number',
  storeId: 'store_id',
} as const satisfies Partial<Record<keyof OfflineRepairQuery, keyof OfflineRepairTable>>;

const matching = <Output>(
  query: SelectQueryBuilder<Tables, 'offline_repairs', Output>,
  caller: Caller,
  filters: OfflineRepairQuery,
) => {
  let narrowed = query.where(visibleTo(caller));
  for (const [name, column] of Object.entries(EQUAL)) {
    const value = filters[name as keyof typeof EQUAL];
    if (value !== undefined) narrowed = narrowed.where(column, '=', value);
  }
  return filters.updatedSince === undefined
    ? narrowed
    : narrowed.where('updated_at', '>=', filters.updatedSince);
};

/** Newest first: a shop's numbers rise with every creation, so their order is stable and has an index. */
export const listRepairs = async (
  db: Db,
  caller: Caller,
  filters: OfflineRepairQuery,
): Promise<{ rows: Repair[]; total: number }> => {
  const [rows, { total }] = await Promise.all([
    matching(db.selectFrom('offline_repairs'), caller, filters)
      .selectAll()
      .orderBy('number', 'desc')
      .limit(filters.limit)
      .offset((filters.page - 1) * filters.limit)
      .execute(),
    matching(db.selectFrom('offline_repairs'), caller, filters)
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  return { rows, total };
};
