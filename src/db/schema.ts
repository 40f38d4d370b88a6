import type { ColumnType, Generated, Selectable } from 'kysely';
import type { AuditAction, AuditSubjectType, UserRole } from '../../contract/admin-people.ts';
import type { Actor } from '../../contract/common.ts';
import type {
  DISPOSITIONS,
  OfflineRepairStatus,
  TimelineType,
  TradeReturnStatus,
} from '../../contract/lifecycle.ts';
import type { WebhookEventName } from '../../contract/webhook-event.ts';

// Every table with its columns, the same on both engines: ids and texts are strings, times are milliseconds since 1970, flags
// are 0 or 1, nested objects are JSON text. Row types and column lists are derived from it. The migrations create the tables and
// do not read it, since a released migration must not change with it; a test compares the two.

/** A column with the type of its values, which exists only for the compiler. */
interface Column<Type> {
  readonly holds?: Type;
}
const column = <Type>(): Column<Type> => ({});
/** Set when the row is inserted, never updated. */
const fixed = <Value>() => column<ColumnType<Value, Value, never>>();

const text = column<string>();
const textOrNull = column<string | null>();
const number = column<number>();
const numberOrNull = column<number | null>();
const zero = column<Generated<number>>();
const fixedText = fixed<string>();
const fixedTextOrNull = fixed<string | null>();
const fixedNumber = fixed<number>();

export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'DROPPED';

const rmaColumns = <Status extends string>() => ({
  id: fixedText,
  shop_id: fixedText,
  /** null: the shop's staff created it. */
  client_id: fixedTextOrNull,
  number: fixedNumber,
  status: column<Status>(),
  external_ref: fixedTextOrNull,
  external_source: fixedTextOrNull,
  customer_email: text,
  customer_name: text,
  customer_phone: textOrNull,
  search_text: text,
  created_at: fixedNumber,
  /** Rises by a millisecond at least with every change: it is also the time of the change's event. */
  updated_at: number,
  status_since: number,
  /** The member of staff who works on it. API clients name technicians in `assigned_to_id`. */
  assignee_id: textOrNull,
});

const SCHEMA = {
  shops: {
    id: fixedText,
    name: text,
    plan: text,
    subscription: text,
    /** null: as the plan says. */
    billing: textOrNull,
    allowance: numberOrNull,
    usage_cap: numberOrNull,
    factor_required: zero,
    created_at: fixedNumber,
    updated_at: number,
  },
  /** The shop's hot row, which every change locks until its commit: it hands out numbers, places, positions and times. */
  shop_counters: {
    shop_id: fixedText,
    last_number: number,
    /** `2026-11`, UTC. */
    month: text,
    month_used: number,
    last_position: zero,
    /** When the shop's newest change was made: no later one gets an earlier time. */
    last_at: zero,
  },
  /** What the shop prints and shows. Apart from the shop's own row, which is read with every request. */
  shop_settings: {
    shop_id: fixedText,
    /** null: the shop's own name. */
    name: textOrNull,
    /** Lines, as JSON. */
    address: text,
    phone: textOrNull,
    email: textOrNull,
    currency: textOrNull,
    time_zone: textOrNull,
    slip_text: textOrNull,
    logo: textOrNull,
    updated_at: number,
  },
  dangerous_goods: { shop_id: fixedText, pattern: fixedText },
  api_clients: {
    id: fixedText,
    shop_id: fixedText,
    name: text,
    key_hash: fixedText,
    webhook_url: textOrNull,
    webhook_secret: text,
    last_used_at: numberOrNull,
    revoked_at: numberOrNull,
    replaced_by: textOrNull,
    created_at: fixedNumber,
  },
  users: {
    id: fixedText,
    shop_id: fixedText,
    email: text,
    name: textOrNull,
    role: column<UserRole>(),
    password_hash: text,
    last_sign_in_at: numberOrNull,
    /** Sealed for this row (`staff/second-factor.ts`); set before `factor_since`, during set-up. */
    factor_secret: textOrNull,
    /** Since when a code is asked for at sign-in; null: it is not. */
    factor_since: numberOrNull,
    /** The 30 seconds of the newest code that was used: no code up to it is taken again. */
    factor_step: zero,
    /** How often a second factor was removed: browsers trusted before that are not trusted any more. */
    factor_removals: zero,
    /** When wrong codes after the right password reached the limit; null again with a new password. */
    password_exposed_at: numberOrNull,
    created_at: fixedNumber,
  },
  sessions: {
    token_hash: fixedText,
    id: fixedText,
    user_id: fixedText,
    created_at: fixedNumber,
    expires_at: fixedNumber,
    /** Wrong passwords and codes since the last proof. */
    wrong_passwords: zero,
    proved_at: number,
    /** In words; null where the request did not say. */
    browser: fixedTextOrNull,
    address: text,
    /** Exact to the minute. */
    last_used_at: number,
  },
  /** Wrong passwords for an e-mail, from an address, or both. */
  sign_in_failures: {
    key: fixedText,
    failures: number,
    expires_at: number,
    audit_id: textOrNull,
  },
  /** An address from which a person signed in before, signed. */
  sign_in_addresses: { user_id: fixedText, address: fixedText, seen_at: number },
  access_links: { token_hash: fixedText, user_id: fixedText, expires_at: fixedNumber },
  /** Codes that take the place of the second factor, each once. */
  recovery_codes: { user_id: fixedText, code_hash: fixedText },
  /** Names are kept as they were then: the entry outlives its subject. */
  audit_log: {
    id: fixedText,
    shop_id: fixedText,
    at: fixedNumber,
    actor_type: fixed<Actor['type']>(),
    actor_id: fixedTextOrNull,
    actor_name: fixedText,
    action: fixed<AuditAction>(),
    subject_type: fixed<AuditSubjectType>(),
    subject_id: fixedText,
    subject_name: fixedText,
    data: text,
    /** Where the request came from: an IPv4 address, or an IPv6 network (/64). */
    address: textOrNull,
  },
  offline_repairs: {
    ...rmaColumns<OfflineRepairStatus>(),
    order_number: fixedText,
    faulty_item: text,
    serial_number: textOrNull,
    fault_description: fixedText,
    store_id: fixedText,
    replacement_sku: fixedTextOrNull,
    notes: fixedTextOrNull,
    is_dangerous: fixedNumber,
    tracking_number: textOrNull,
    carrier_name: textOrNull,
    offline_disposition: column<(typeof DISPOSITIONS)[number] | null>(),
    assigned_to_id: textOrNull,
    repair_notes: textOrNull,
  },
  trade_returns: {
    ...rmaColumns<TradeReturnStatus>(),
    trade_order_number: fixedText,
    company_name: text,
    company_id: fixedText,
    reason: fixedText,
    items: fixedText,
    shipping_address: fixedText,
    order_date: fixedTextOrNull,
    customer_notes: fixedTextOrNull,
    fault_description: fixedTextOrNull,
    additional_comment: fixedTextOrNull,
  },
  /** How many RMAs there are of each sort, kept with every change. */
  rma_totals: {
    shop_id: fixedText,
    kind: fixed<'offline_repairs' | 'trade_returns'>(),
    origin: fixed<'API' | 'STAFF'>(),
    status: fixedText,
    count: number,
  },
  timeline: {
    rma_id: fixedText,
    at: fixedNumber,
    id: fixedText,
    type: fixed<TimelineType>(),
    actor_type: fixed<Actor['type']>(),
    actor_id: fixedTextOrNull,
    actor_name: fixedText,
    from_status: fixedTextOrNull,
    to_status: fixedTextOrNull,
    note: fixedTextOrNull,
    data: fixedText,
  },
  /** After so many days in a status a return is overdue. */
  target_days: { shop_id: fixedText, status: fixedText, days: number },
  /** Removed users: what is assigned to them becomes unassigned. */
  departed_people: { user_id: fixedText, shop_id: fixedText, left_at: fixedNumber },
  saved_views: {
    id: fixedText,
    shop_id: fixedText,
    /** null: all staff of the shop see it. */
    user_id: textOrNull,
    kind: fixed<'OFFLINE_REPAIR' | 'TRADE_RETURN'>(),
    name: text,
    search: text,
    created_at: fixedNumber,
  },
  idempotency_keys: {
    client_id: fixedText,
    key: fixedText,
    body_hash: fixedText,
    answer: fixedText,
    created_at: fixedNumber,
  },
  /** A shop's events in the order in which their changes were committed, without gaps. */
  events: {
    shop_id: fixedText,
    position: fixedNumber,
    /** Also the id of its delivery, if there is one. */
    id: fixedText,
    rma_id: fixedText,
    event: fixed<WebhookEventName>(),
    at: fixedNumber,
    /** The bytes that a receiver gets. */
    body: fixedText,
  },
  /** The outbox: the delivery of one event to one client. */
  webhook_deliveries: {
    id: fixedText,
    client_id: text,
    rma_id: fixedTextOrNull,
    event: fixed<WebhookEventName>(),
    /** Empty where the event log has it. */
    body: fixedText,
    status: column<DeliveryStatus>(),
    attempts: number,
    /** What each attempt came to, as JSON: `Attempt[]`. */
    attempt_log: text,
    /** When it may be tried again; a first attempt is always due. */
    due_at: number,
    created_at: fixedNumber,
    finished_at: numberOrNull,
    reason: textOrNull,
  },
  webhook_leases: { client_id: fixedText, holder: text, held_until: number },
  rate_limits: {
    key: fixedText,
    /** When the calls came that count, oldest first. */
    times: column<number[]>(),
    taken: number,
    expire: number,
  },
  installation: { name: fixedText, value: text },
};

type Schema = typeof SCHEMA;
type TypeOf<C> = C extends Column<infer Type> ? Type : never;

export type Tables = { [T in keyof Schema]: { [C in keyof Schema[T]]: TypeOf<Schema[T][C]> } };
export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
export type ShopTable = Tables['shops'];
export type ApiClientTable = Tables['api_clients'];
export type UserTable = Tables['users'];

/** Statements name their columns: a prepared `select *` fails as soon as a newer release adds a column to the table. */
export const columnsOf = <Name extends keyof Tables>(table: Name): readonly (keyof Tables[Name] & string)[] =>
  Object.keys(SCHEMA[table]) as (keyof Tables[Name] & string)[];

export const TABLE_NAMES = Object.keys(SCHEMA) as (keyof Tables)[];

export const SHOP_COLUMNS = columnsOf('shops');
export const COUNTER_COLUMNS = columnsOf('shop_counters');
export const SETTINGS_COLUMNS = columnsOf('shop_settings');
export const USER_COLUMNS = columnsOf('users');
export const AUDIT_COLUMNS = columnsOf('audit_log');
export const TOTAL_COLUMNS = columnsOf('rma_totals');
export const TIMELINE_COLUMNS = columnsOf('timeline');
export const DELIVERY_COLUMNS = columnsOf('webhook_deliveries');
export const SAVED_VIEW_COLUMNS = columnsOf('saved_views');

/** Code for both kinds names one kind's table and means either. */
export const RMA_COLUMNS = {
  offline_repairs: columnsOf('offline_repairs'),
  trade_returns: columnsOf('trade_returns') as unknown as readonly (keyof Tables['offline_repairs'])[],
};
