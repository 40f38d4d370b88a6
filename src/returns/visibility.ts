import type { Row } from '../db/schema.ts';
import type { EventSubject } from '../events/event.ts';
import type { Caller } from '../shops/plans.ts';

/** Both kinds of RMA have the same columns where they share rules, so shared code speaks of one and means either. */
export type RmaTableName = 'offline_repairs' | 'trade_returns';

/** A row of either kind, with what shared code reads of it. */
type RmaRow<Table extends RmaTableName> = Row<Table> &
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

/** The caller's own shop, and for API clients only what API clients made. */
export const isVisibleTo = (caller: Caller, row: { shop_id: string; client_id: string | null }): boolean =>
  row.shop_id === caller.shop.id && (row.client_id !== null || !isApiClient(caller));
