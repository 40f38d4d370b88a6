import type { ExpressionBuilder } from 'kysely';
import type { Caller } from '../caller.ts';
import type { Row, Tables } from '../db/tables.ts';
import type { EventSubject } from '../webhooks/outbox.ts';

/** Both kinds of RMA have the same columns where they share rules, so shared code speaks of one and means either. */
export type RmaTableName = 'offline_repairs' | 'trade_returns';

/** A row of either kind, with what shared code reads of it. */
export type RmaRow<Table extends RmaTableName> = Row<Table> & EventSubject & { updated_at: number };

/** The caller's own shop and, for programs, only what programs made: anything else does not exist for them. */
export const visibleTo =
  ({ shop, actor }: Caller) =>
  (eb: ExpressionBuilder<Tables, RmaTableName>) =>
    eb.and([
      eb('shop_id', '=', shop.id),
      ...(actor.type === 'API_CLIENT' ? [eb('client_id', 'is not', null)] : []),
    ]);
