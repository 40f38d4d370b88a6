import type { ExpressionBuilder } from 'kysely';
import type { Caller } from '../caller.ts';
import type { Tables } from '../db/tables.ts';

export type RmaTableName = 'offline_repairs';

/** The caller's own shop and, for programs, only what programs made: anything else does not exist for them. */
export const visibleTo =
  ({ shop, actor }: Caller) =>
  (eb: ExpressionBuilder<Tables, RmaTableName>) =>
    eb.and([
      eb('shop_id', '=', shop.id),
      ...(actor.type === 'API_CLIENT' ? [eb('client_id', 'is not', null)] : []),
    ]);
