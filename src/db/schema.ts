import type { ColumnType, Generated, Selectable } from 'kysely';
import type { AuditAction, AuditSubjectType, UserRole } from '../../contract/admin-people.ts';
import type { Actor } from '../../contract/common.ts';
import type { KindName, ReturnTable } from '../../contract/kinds.ts';
import type {
  DISPOSITIONS,
  OfflineRepairStatus,
  TimelineType,
  TradeReturnStatus,
  WAITING_FOR,
} from '../../contract/lifecycle.ts';
import type { WebhookEventName } from '../../contract/webhook-event.ts';

// Every table with its columns, the same on both engines: ids and texts are strings, times are milliseconds since 1970, flags
// are 0 or 1, nested objects are JSON text. Row types and column lists are derived from it. The migrations create the tables and
// do not read it, since a released migration must not change with it; a test compares the two.

/** A column with the type of its values, which only exists for the compiler. */
interface Column<Type> {
  readonly isFixed: boolean;
  readonly holds?: Type;
}
const columns =
  <Type>(isFixed = false) =>
  <Name extends string>(...names: Name[]) =>
    Object.fromEntries(names.map((name) => [name, { isFixed }])) as Record<Name, Column<Type>>;
/** Set when the row is inserted, never updated. */
const fixed = <Value>() => columns<ColumnType<Value, Value, never>>(true);

const text = columns<string>();
const textOrNull = columns<string | null>();
const number = columns<number>();
const numberOrNull = columns<number | null>();
const zeroAtFirst = columns<Generated<number>>();
const fixedText = fixed<string>();
const fixedTextOrNull = fixed<string | null>();
const fixedNumber = fixed<number>();

export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'DROPPED';

const rmaColumns = <Status extends string>() => ({
  ...fixedText('id', 'shop_id'),
  // The receiver of its events, from the client that created it: null if the shop's staff did.
  ...fixedTextOrNull('receiver_id', 'external_ref', 'external_source'),
  ...fixedNumber('number', 'created_at'),
  ...columns<Status>()('status'),
  ...text('customer_email', 'customer_name', 'search_text'),
  // The assignee is the member of staff who works on it. API clients name technicians in `assigned_to_id`.
  ...textOrNull('customer_phone', 'assignee_id'),
  // `updated_at` increases by at least a millisecond with every change, and is also the time of the change's event.
  ...number('updated_at', 'status_since'),
  // When the customer's data were erased.
  ...numberOrNull('erased_at'),
  // What the work waits for, until when it is expected, and a note for staff.
  ...columns<(typeof WAITING_FOR)[number] | null>()('waiting_for'),
  ...numberOrNull('waiting_until', 'waiting_since'),
  ...textOrNull('waiting_note'),
  // The time from which target days count, if it is not `status_since` (`returns/waiting.ts`).
  ...numberOrNull('due_from'),
});

/** The order allows a restore: a table comes after those that it refers to. */
const SCHEMA = {
  shops: {
    ...fixedText('id'),
    ...text('name', 'plan', 'subscription'),
    // null: the plan's billing.
    ...textOrNull('billing'),
    ...numberOrNull('allowance', 'usage_cap'),
    ...zeroAtFirst('factor_required'),
    ...fixedNumber('created_at'),
    ...number('updated_at'),
  },
  /** The shop's hot row, which every change locks until its commit. It assigns numbers, positions and times, and counts the allowance. */
  shop_counters: {
    ...fixedText('shop_id'),
    // `2026-11`, UTC.
    ...text('month'),
    ...number('last_number', 'month_used'),
    // The position and time of the shop's newest change. A later change never has an earlier time.
    ...zeroAtFirst('last_position', 'last_at'),
  },
  /** The texts that the shop prints and shows. They are not in `shops`, whose row every request reads. */
  shop_settings: {
    ...fixedText('shop_id'),
    // Lines, as JSON.
    ...text('address'),
    // The name is null if it is the shop's own.
    ...textOrNull('name', 'phone', 'email', 'currency', 'time_zone', 'slip_text', 'logo'),
    ...number('updated_at'),
  },
  dangerous_goods: fixedText('shop_id', 'pattern'),
  api_clients: {
    // The receiver is an id that a client gets at its creation and its replacement takes over.
    ...fixedText('id', 'shop_id', 'key_hash', 'receiver_id'),
    ...text('name', 'webhook_secret'),
    ...textOrNull('webhook_url', 'replaced_by'),
    ...numberOrNull('last_used_at', 'revoked_at', 'replaced_at'),
    // The rights besides reading, separated by commas.
    ...columns<Generated<string>>()('rights'),
    // The time from which its key is refused; null: never.
    ...numberOrNull('expires_at'),
    // The events that it receives, separated by commas; null: those of the specification.
    ...textOrNull('events'),
    ...fixedNumber('created_at'),
  },
  users: {
    ...fixedText('id', 'shop_id'),
    ...text('email', 'password_hash'),
    ...textOrNull('name'),
    ...columns<UserRole>()('role'),
    ...numberOrNull('last_sign_in_at'),
    // Sealed for this row (`staff/second-factor.ts`); set before `factor_since`, during set-up.
    ...textOrNull('factor_secret'),
    // Since when sign-ins require a code; null: they do not.
    ...numberOrNull('factor_since'),
    // The time step of the newest used code. It and older ones are not accepted again.
    ...zeroAtFirst('factor_step'),
    // How often a second factor was removed. Browsers that were trusted before are not trusted any more.
    ...zeroAtFirst('factor_removals'),
    // When wrong codes after the correct password reached the limit. A new password resets it to null.
    ...numberOrNull('password_exposed_at'),
    // Who they are at the identity provider; null until they first sign in there.
    ...textOrNull('provider_issuer', 'provider_subject'),
    ...fixedNumber('created_at'),
    // 1: they changed it themselves, and have not used a link since that was only mailed to it.
    ...zeroAtFirst('email_unconfirmed'),
  },
  sessions: {
    ...fixedText('token_hash', 'id', 'user_id'),
    ...fixedNumber('created_at', 'expires_at'),
    // Wrong passwords and codes since the last proof.
    ...zeroAtFirst('wrong_passwords'),
    // The name of the browser; null if unknown.
    ...fixedTextOrNull('browser'),
    // 1: opened through the identity provider, which handles second factors itself.
    ...zeroAtFirst('through_provider'),
    ...text('address'),
    // The last use has a precision of a minute.
    ...number('proved_at', 'last_used_at'),
  },
  /** Counts of wrong passwords for an email, from an address, or both. */
  sign_in_failures: { ...fixedText('key'), ...number('failures', 'expires_at'), ...textOrNull('audit_id') },
  /** The signature of an address from which a person signed in before. */
  sign_in_addresses: { ...fixedText('user_id', 'address'), ...number('seen_at') },
  access_links: {
    ...fixedText('token_hash', 'user_id'),
    ...fixedNumber('expires_at'),
    // 1: it was only mailed, so whoever uses it reads the mails of that address.
    ...zeroAtFirst('confirms_email'),
  },
  /** Codes that each replace the second factor once. */
  recovery_codes: fixedText('user_id', 'code_hash'),
  /** Names are stored as they were then, since an entry outlives its subject. */
  audit_log: {
    ...fixedText('id', 'shop_id', 'subject_id'),
    ...fixedTextOrNull('actor_id'),
    ...fixedNumber('at'),
    ...fixed<Actor['type']>()('actor_type'),
    ...fixed<AuditAction>()('action'),
    ...fixed<AuditSubjectType>()('subject_type'),
    ...text('actor_name', 'subject_name', 'data'),
    // Where the request came from: an IPv4 address, or an IPv6 network (/64).
    ...textOrNull('address'),
  },
  offline_repairs: {
    ...rmaColumns<OfflineRepairStatus>(),
    ...fixedText('order_number', 'fault_description', 'store_id'),
    ...fixedTextOrNull('replacement_sku', 'notes'),
    ...fixedNumber('is_dangerous'),
    ...text('faulty_item'),
    ...textOrNull('serial_number', 'tracking_number', 'carrier_name', 'assigned_to_id', 'repair_notes'),
    ...columns<(typeof DISPOSITIONS)[number] | null>()('offline_disposition'),
  },
  trade_returns: {
    ...rmaColumns<TradeReturnStatus>(),
    ...fixedText('trade_order_number', 'company_id', 'reason', 'items', 'shipping_address'),
    ...fixedTextOrNull('order_date', 'customer_notes', 'fault_description', 'additional_comment'),
    ...text('company_name'),
    // What was received of each line, as JSON, and the credit if it was set by hand, as a decimal string (`returns/kinds/receipts.ts`).
    ...textOrNull('receipts', 'credit_amount'),
  },
  /** The number of returns, updated with every change. */
  rma_totals: {
    ...fixedText('shop_id', 'status'),
    ...fixed<ReturnTable>()('kind'),
    ...fixed<'API' | 'STAFF'>()('origin'),
    ...number('count'),
  },
  timeline: {
    ...fixedText('rma_id', 'id', 'actor_name', 'data'),
    ...fixedTextOrNull('actor_id', 'from_status', 'to_status', 'note'),
    ...fixedNumber('at'),
    ...fixed<TimelineType>()('type'),
    ...fixed<Actor['type']>()('actor_type'),
  },
  /** A return is overdue after this many days in a status. */
  target_days: { ...fixedText('shop_id', 'status'), ...number('days') },
  /** A shop's returns of a kind are erased this many months after their end. */
  forget_rules: { ...fixedText('shop_id'), ...fixed<ReturnTable>()('kind'), ...number('months') },
  /** The ids of erased subjects, without any data, so that a restored backup can erase them again. */
  erasures: {
    ...fixedText('subject_id', 'shop_id'),
    ...fixed<ReturnTable | 'users' | 'shops'>()('kind'),
    ...fixedNumber('at'),
    // null: it is finished. Otherwise the janitor continues.
    ...textOrNull('progress'),
    // How often a step failed. Those that failed less often come first.
    ...zeroAtFirst('failures'),
  },
  /** Removed users whose returns are still to be unassigned. */
  removed_users: { ...fixedText('user_id', 'shop_id'), ...fixedNumber('removed_at') },
  saved_views: {
    ...fixedText('id', 'shop_id'),
    // null: all staff of the shop see it.
    ...textOrNull('user_id'),
    ...fixed<KindName>()('kind'),
    ...text('name', 'search'),
    ...fixedNumber('created_at'),
  },
  /** The owner is the receiver of the API client that sent the key, or the person who sent it. */
  idempotency_keys: {
    ...fixedText('owner_id', 'key', 'body_hash', 'response'),
    ...fixedNumber('created_at'),
  },
  /** A shop's events in the order in which their changes were committed, without gaps. */
  events: {
    // A delivery of the event has the same id. The body has the exact bytes that a receiver gets.
    ...fixedText('shop_id', 'id', 'rma_id', 'body'),
    ...fixedNumber('position', 'at'),
    ...fixed<WebhookEventName>()('event'),
  },
  /** The outbox: the delivery of one event to one receiver. */
  webhook_deliveries: {
    // The body is empty if `events` has it.
    ...fixedText('id', 'body'),
    ...fixedTextOrNull('rma_id'),
    ...fixed<WebhookEventName>()('event'),
    ...columns<DeliveryStatus>()('status'),
    // The result of each attempt, as JSON: `Attempt[]`.
    ...fixedText('receiver_id'),
    ...text('attempt_log'),
    // When the next attempt is due; a first attempt is always due.
    ...number('attempts', 'due_at'),
    ...fixedNumber('created_at'),
    ...numberOrNull('finished_at'),
    ...textOrNull('reason'),
  },
  webhook_leases: { ...fixedText('receiver_id'), ...text('holder'), ...number('held_until') },
  /** Receivers with failures since their last 2xx. The next 2xx deletes the row. */
  webhook_failures: {
    ...fixedText('receiver_id'),
    ...text('last_error'),
    ...number('since', 'failed_attempts', 'dropped_deliveries'),
    // When the shop's Admins were notified; null: not yet.
    ...numberOrNull('notified_at'),
  },
  rate_limits: {
    ...fixedText('key'),
    // The times of the calls that count, oldest first.
    ...columns<number[]>()('times'),
    ...number('taken', 'expire'),
  },
  installation: { ...fixedText('name'), ...text('value') },
};

type Schema = typeof SCHEMA;
type TypeOf<C> = C extends Column<infer Type> ? Type : never;

export type Tables = { [T in keyof Schema]: { [C in keyof Schema[T]]: TypeOf<Schema[T][C]> } };
export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
export type ApiClientTable = Tables['api_clients'];
export type UserTable = Tables['users'];

/** Statements name their columns: a prepared `select *` fails after a newer release has added a column to the table. */
export const columnsOf = <Name extends keyof Tables>(table: Name): readonly (keyof Tables[Name] & string)[] =>
  Object.keys(SCHEMA[table]) as (keyof Tables[Name] & string)[];

export const mutableColumns = (table: keyof Tables): string[] =>
  Object.entries<Column<unknown>>(SCHEMA[table]).flatMap(([name, { isFixed }]) => (isFixed ? [] : [name]));

export const TABLE_NAMES = Object.keys(SCHEMA) as (keyof Tables)[];

export const SHOP_COLUMNS = columnsOf('shops');
export const USER_COLUMNS = columnsOf('users');
export const TOTAL_COLUMNS = columnsOf('rma_totals');
export const TIMELINE_COLUMNS = columnsOf('timeline');
export const DELIVERY_COLUMNS = columnsOf('webhook_deliveries');
export const SAVED_VIEW_COLUMNS = columnsOf('saved_views');
