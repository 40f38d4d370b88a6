import type { Tables } from './tables.ts';

// Statements name their columns. A `select *` that is kept as a prepared statement fails as soon as a newer release adds a
// column to the table, and would hand rows of another shape to this one.

type ColumnsOf<Name extends keyof Tables> = readonly (keyof Tables[Name] & string)[];

/** Takes the columns of a table, all of them: one that is missing does not compile. */
const all =
  <Name extends keyof Tables>() =>
  <const Columns extends ColumnsOf<Name>>(
    ...columns: Exclude<keyof Tables[Name], Columns[number]> extends never
      ? Columns
      : [missing: Exclude<keyof Tables[Name], Columns[number]>]
  ): Columns =>
    columns as unknown as Columns;

export const SHOP_COLUMNS = all<'shops'>()(
  'id',
  'name',
  'plan',
  'subscription',
  'billing',
  'allowance',
  'usage_cap',
  'factor_required',
  'created_at',
  'updated_at',
);

export const COUNTER_COLUMNS = all<'shop_counters'>()(
  'shop_id',
  'last_number',
  'month',
  'month_used',
  'last_position',
  'last_at',
);

export const SETTINGS_COLUMNS = all<'shop_settings'>()(
  'shop_id',
  'name',
  'address',
  'phone',
  'email',
  'currency',
  'time_zone',
  'slip_text',
  'logo',
  'updated_at',
);

export const USER_COLUMNS = all<'users'>()(
  'id',
  'shop_id',
  'email',
  'name',
  'role',
  'password_hash',
  'last_sign_in_at',
  'factor_secret',
  'factor_since',
  'factor_step',
  'factor_removals',
  'password_exposed_at',
  'created_at',
);

export const AUDIT_COLUMNS = all<'audit_log'>()(
  'id',
  'shop_id',
  'at',
  'actor_type',
  'actor_id',
  'actor_name',
  'action',
  'subject_type',
  'subject_id',
  'subject_name',
  'data',
  'address',
);

export const TOTAL_COLUMNS = all<'rma_totals'>()('shop_id', 'kind', 'origin', 'status', 'count');

export const TIMELINE_COLUMNS = all<'timeline'>()(
  'rma_id',
  'at',
  'id',
  'type',
  'actor_type',
  'actor_id',
  'actor_name',
  'from_status',
  'to_status',
  'note',
  'data',
);

export const DELIVERY_COLUMNS = all<'webhook_deliveries'>()(
  'id',
  'client_id',
  'rma_id',
  'event',
  'body',
  'status',
  'attempts',
  'attempt_log',
  'due_at',
  'created_at',
  'finished_at',
  'reason',
);

export const SAVED_VIEW_COLUMNS = all<'saved_views'>()(
  'id',
  'shop_id',
  'user_id',
  'kind',
  'name',
  'search',
  'created_at',
);

const REPAIR_COLUMNS = all<'offline_repairs'>()(
  'id',
  'shop_id',
  'client_id',
  'number',
  'status',
  'external_ref',
  'external_source',
  'order_number',
  'customer_email',
  'customer_name',
  'customer_phone',
  'faulty_item',
  'serial_number',
  'fault_description',
  'store_id',
  'replacement_sku',
  'notes',
  'is_dangerous',
  'tracking_number',
  'carrier_name',
  'offline_disposition',
  'assigned_to_id',
  'repair_notes',
  'search_text',
  'created_at',
  'updated_at',
  'status_since',
  'assignee_id',
);

const TRADE_RETURN_COLUMNS = all<'trade_returns'>()(
  'id',
  'shop_id',
  'client_id',
  'number',
  'status',
  'external_ref',
  'external_source',
  'trade_order_number',
  'customer_email',
  'customer_name',
  'customer_phone',
  'company_name',
  'company_id',
  'reason',
  'items',
  'shipping_address',
  'order_date',
  'customer_notes',
  'fault_description',
  'additional_comment',
  'search_text',
  'created_at',
  'updated_at',
  'status_since',
  'assignee_id',
);

/** Shared code speaks of one kind's table and means either. */
export const RMA_COLUMNS = {
  offline_repairs: REPAIR_COLUMNS,
  trade_returns: TRADE_RETURN_COLUMNS as unknown as typeof REPAIR_COLUMNS,
};
