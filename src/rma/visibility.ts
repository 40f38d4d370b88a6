import type { ExpressionBuilder } from 'kysely';
import type { Caller } from '../caller.ts';
import type { Row, Tables } from '../db/tables.ts';
import type { EventSubject } from '../events/event.ts';

/** Both kinds of RMA have the same columns where they share rules, so shared code speaks of one and means either. */
export type RmaTableName = 'offline_repairs' | 'trade_returns';

/** A row of either kind, with what shared code reads of it. */
export type RmaRow<Table extends RmaTableName> = Row<Table> &
  EventSubject & {
    shop_id: string;
    updated_at: number;
    status_since: number;
    assignee_id: string | null;
  };

/** An RMA as it is read: what staff search in is only ever written. */
export type ReturnRow<Table extends RmaTableName = RmaTableName> = Table extends RmaTableName
  ? Omit<RmaRow<Table>, 'search_text'>
  : never;

export const isApiClient = ({ actor }: Caller): boolean => actor.type === 'API_CLIENT';

/** The caller's own shop, and for API clients only what API clients created. */
export const isVisible =
  (shopId: string, forApiClient: boolean) => (eb: ExpressionBuilder<Tables, RmaTableName>) =>
    eb.and([eb('shop_id', '=', shopId), ...(forApiClient ? [eb('client_id', 'is not', null)] : [])]);

/** The same, of a row that was read already. */
export const isVisibleTo = (caller: Caller, row: { shop_id: string; client_id: string | null }): boolean =>
  row.shop_id === caller.shop.id && (row.client_id !== null || !isApiClient(caller));
