import type { ExpressionBuilder } from 'kysely';
import type { Trx } from '../db/database.ts';
import type { Row, Tables } from '../db/tables.ts';
import { isDangerous } from '../shops/dangerous-goods.ts';

type Repair = Row<'offline_repairs'>;

/** Inserts a repair and, in the same statement, works out whether it is dangerous. */
export const insertRepair = (trx: Trx, repair: Omit<Repair, 'is_dangerous'>, sku: string): Promise<Repair> =>
  trx
    .insertInto('offline_repairs')
    .values((eb) => ({
      ...repair,
      is_dangerous: isDangerous(eb as unknown as ExpressionBuilder<Tables, never>, repair.shop_id, sku),
    }))
    .returningAll()
    .executeTakeFirstOrThrow();
