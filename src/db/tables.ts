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

// One row type a table, the same on both engines: ids and texts are strings, times are milliseconds since 1970,
// flags are 0 or 1, and what has a shape of its own is JSON text.

type Fixed<Value> = ColumnType<Value, Value, never>;

export interface ShopTable {
  id: Fixed<string>;
  name: string;
  plan: string;
  subscription: string;
  /** null: as the plan says. */
  billing: string | null;
  allowance: number | null;
  usage_cap: number | null;
  /** 1: nobody of the shop works without a second factor. */
  factor_required: Generated<number>;
  created_at: Fixed<number>;
  updated_at: number;
}

/** The shop's hot row, held until the commit by whoever changes anything: it hands out numbers, places, positions and times. */
interface ShopCounterTable {
  shop_id: Fixed<string>;
  last_number: number;
  /** `2026-11`, UTC. */
  month: string;
  month_used: number;
  /** Of the shop's newest event. */
  last_position: Generated<number>;
  /** When the shop's newest change was made: no later one gets an earlier time. */
  last_at: Generated<number>;
}

/** What the shop prints and shows. Apart from the shop's own row, which is read with every request. */
interface ShopSettingsTable {
  shop_id: Fixed<string>;
  /** null: the shop's own name. */
  name: string | null;
  /** Lines, as JSON. */
  address: string;
  phone: string | null;
  email: string | null;
  currency: string | null;
  time_zone: string | null;
  slip_text: string | null;
  /** A data URL. */
  logo: string | null;
  updated_at: number;
}

interface DangerousGoodsTable {
  shop_id: Fixed<string>;
  pattern: Fixed<string>;
}

export interface ApiClientTable {
  id: Fixed<string>;
  shop_id: Fixed<string>;
  name: string;
  key_hash: Fixed<string>;
  webhook_url: string | null;
  /** Sealed for this row (`api-clients/webhook-secret.ts`). */
  webhook_secret: string;
  last_used_at: number | null;
  revoked_at: number | null;
  /** The client that took its place and gets its events. */
  replaced_by: string | null;
  created_at: Fixed<number>;
}

export interface UserTable {
  id: Fixed<string>;
  shop_id: Fixed<string>;
  email: string;
  name: string | null;
  role: UserRole;
  password_hash: string;
  /** null: never, as far as we know. */
  last_sign_in_at: number | null;
  /** Sealed for this row (`staff/second-factor.ts`); there before `factor_since`, while it is being set up. */
  factor_secret: string | null;
  /** Since when a code is asked for at sign-in; null: it is not. */
  factor_since: number | null;
  /** The 30 seconds of the newest code that was used: no code up to it is taken again. */
  factor_step: Generated<number>;
  created_at: Fixed<number>;
}

/** Somebody who is signed in. Of what their cookie holds only the hash is kept. */
interface SessionTable {
  token_hash: Fixed<string>;
  /** What the person's list of sessions names it by. */
  id: Fixed<string>;
  user_id: Fixed<string>;
  created_at: Fixed<number>;
  expires_at: Fixed<number>;
  /** Wrong passwords and codes since the last proof. */
  wrong_passwords: Generated<number>;
  /** When the person last gave their password or a code in it. */
  proved_at: number;
  /** In words; null where the request did not say. */
  browser: Fixed<string | null>;
  /** Where its last use came from. */
  address: string;
  /** Exact to the minute. */
  last_used_at: number;
}

/** Wrong passwords for an e-mail, from an address, or both. */
interface SignInFailureTable {
  key: Fixed<string>;
  failures: number;
  expires_at: number;
}

/** An address from which a person signed in before, signed. */
interface SignInAddressTable {
  user_id: Fixed<string>;
  address: Fixed<string>;
  seen_at: number;
}

/** A one-time link with which a person chooses a password. Of its token only the hash is kept. */
interface AccessLinkTable {
  token_hash: Fixed<string>;
  user_id: Fixed<string>;
  expires_at: Fixed<number>;
}

/** Codes that take the place of the second factor, each once. */
interface RecoveryCodeTable {
  user_id: Fixed<string>;
  code_hash: Fixed<string>;
}

/** Names are kept as they were then: the entry outlives whom and what it tells of. */
interface AuditTable {
  id: Fixed<string>;
  shop_id: Fixed<string>;
  at: Fixed<number>;
  actor_type: Fixed<Actor['type']>;
  actor_id: Fixed<string | null>;
  actor_name: Fixed<string>;
  action: Fixed<AuditAction>;
  subject_type: Fixed<AuditSubjectType>;
  subject_id: Fixed<string>;
  subject_name: Fixed<string>;
  data: Fixed<string>;
}

/** What both kinds of RMA keep. `client_id` is null where the shop's staff made it. */
interface RmaColumns<Status extends string> {
  id: Fixed<string>;
  shop_id: Fixed<string>;
  client_id: Fixed<string | null>;
  number: Fixed<number>;
  status: Status;
  external_ref: Fixed<string | null>;
  external_source: Fixed<string | null>;
  created_at: Fixed<number>;
  /** What staff search in, in lower case. */
  search_text: string;
  /** Rises by a millisecond at least with every change: it is also the time of the change's event. */
  updated_at: number;
  status_since: number;
  /** Who of the team works on it. Programs name technicians in `assigned_to_id`. */
  assignee_id: string | null;
}

interface OfflineRepairTable extends RmaColumns<OfflineRepairStatus> {
  order_number: Fixed<string>;
  customer_email: string;
  customer_name: string;
  customer_phone: string | null;
  faulty_item: string;
  /** Of the faulty item, so that it can be looked up. */
  serial_number: string | null;
  fault_description: Fixed<string>;
  store_id: Fixed<string>;
  replacement_sku: Fixed<string | null>;
  notes: Fixed<string | null>;
  is_dangerous: Fixed<number>;
  tracking_number: string | null;
  carrier_name: string | null;
  offline_disposition: (typeof DISPOSITIONS)[number] | null;
  assigned_to_id: string | null;
  repair_notes: string | null;
}

interface TradeReturnTable extends RmaColumns<TradeReturnStatus> {
  trade_order_number: Fixed<string>;
  customer_email: string;
  customer_name: string;
  customer_phone: string | null;
  company_name: string;
  company_id: Fixed<string>;
  reason: Fixed<string>;
  items: Fixed<string>;
  shipping_address: Fixed<string>;
  order_date: Fixed<string | null>;
  customer_notes: Fixed<string | null>;
  fault_description: Fixed<string | null>;
  additional_comment: Fixed<string | null>;
}

/** How many RMAs there are of each sort, kept with every change. */
interface RmaTotalTable {
  shop_id: Fixed<string>;
  kind: Fixed<'offline_repairs' | 'trade_returns'>;
  origin: Fixed<'API' | 'STAFF'>;
  status: Fixed<string>;
  count: number;
}

interface TimelineTable {
  rma_id: Fixed<string>;
  at: Fixed<number>;
  id: Fixed<string>;
  type: Fixed<TimelineType>;
  actor_type: Fixed<Actor['type']>;
  actor_id: Fixed<string | null>;
  actor_name: Fixed<string>;
  from_status: Fixed<string | null>;
  to_status: Fixed<string | null>;
  note: Fixed<string | null>;
  data: Fixed<string>;
}

/** After so many days in a status a return is overdue. */
interface TargetDaysTable {
  shop_id: Fixed<string>;
  status: Fixed<string>;
  days: number;
}

/** Somebody who was removed: what is assigned to them becomes unassigned. */
interface DepartedPersonTable {
  user_id: Fixed<string>;
  shop_id: Fixed<string>;
  left_at: Fixed<number>;
}

/** A list's filters under a name. `user_id` is null where all of the shop see it. */
interface SavedViewTable {
  id: Fixed<string>;
  shop_id: Fixed<string>;
  user_id: string | null;
  kind: Fixed<'OFFLINE_REPAIR' | 'TRADE_RETURN'>;
  name: string;
  search: string;
  created_at: Fixed<number>;
}

interface IdempotencyTable {
  client_id: Fixed<string>;
  key: Fixed<string>;
  body_hash: Fixed<string>;
  answer: Fixed<string>;
  created_at: Fixed<number>;
}

/** A shop's events in the order in which their changes were committed, without gaps. */
interface EventTable {
  shop_id: Fixed<string>;
  position: Fixed<number>;
  /** Also the id of its delivery, if there is one. */
  id: Fixed<string>;
  rma_id: Fixed<string>;
  event: Fixed<WebhookEventName>;
  at: Fixed<number>;
  /** The bytes that a receiver gets. */
  body: Fixed<string>;
}

/** The outbox: one event on its way to one client. `due_at` is when it may be tried again; a first attempt is always due. */
interface WebhookDeliveryTable {
  id: Fixed<string>;
  client_id: string;
  rma_id: Fixed<string | null>;
  event: Fixed<WebhookEventName>;
  /** Empty where the event log has it. */
  body: Fixed<string>;
  status: DeliveryStatus;
  attempts: number;
  /** What each attempt came to, as JSON: `Attempt[]`. */
  attempt_log: string;
  due_at: number;
  created_at: Fixed<number>;
  finished_at: number | null;
  /** Why it was dropped; null unless it was. */
  reason: string | null;
}
export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'DROPPED';

/** Which process sends to a receiver. */
interface WebhookLeaseTable {
  client_id: Fixed<string>;
  holder: string;
  held_until: number;
}

/** How often an address has called, where processes share it. */
interface RateLimitTable {
  key: Fixed<string>;
  /** When the calls came that count, oldest first. */
  times: number[];
  /** How many of the latest calls passed. */
  taken: number;
  /** When none of them counts any more. */
  expire: number;
}

/** One row per thing the installation as a whole remembers. */
interface InstallationTable {
  name: Fixed<string>;
  value: string;
}

export interface Tables {
  shops: ShopTable;
  shop_counters: ShopCounterTable;
  shop_settings: ShopSettingsTable;
  dangerous_goods: DangerousGoodsTable;
  api_clients: ApiClientTable;
  users: UserTable;
  sessions: SessionTable;
  sign_in_failures: SignInFailureTable;
  sign_in_addresses: SignInAddressTable;
  access_links: AccessLinkTable;
  recovery_codes: RecoveryCodeTable;
  audit_log: AuditTable;
  offline_repairs: OfflineRepairTable;
  trade_returns: TradeReturnTable;
  rma_totals: RmaTotalTable;
  timeline: TimelineTable;
  target_days: TargetDaysTable;
  departed_people: DepartedPersonTable;
  saved_views: SavedViewTable;
  idempotency_keys: IdempotencyTable;
  events: EventTable;
  webhook_deliveries: WebhookDeliveryTable;
  webhook_leases: WebhookLeaseTable;
  rate_limits: RateLimitTable;
  installation: InstallationTable;
}

export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
