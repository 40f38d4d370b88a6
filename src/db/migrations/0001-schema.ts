import { type Kysely, sql } from 'kysely';
import type { SchemaChange, SchemaDialect } from './types.ts';

// Tables that every creation or move writes have no foreign keys: shops and clients are deleted after all their rows, the
// action that writes has just read both, and the checks would lock the shop's row under load.
export const createSchema: SchemaChange = async (db, engine) => {
  const subjects = [shops, people, returns, events, personalData, installation].map((subject) =>
    subject(engine),
  );
  for (const statement of subjects.flatMap((text) => text.split(/;\n/)))
    if (statement.trim()) await sql.raw(statement).execute(db);
  if (engine.search === 'trigrams') await addTrigrams(db, engine.notice);
};

const shops = ({ id }: SchemaDialect): string => `
create table shops (
  id ${id} primary key not null, name text not null, plan text not null, subscription text not null, billing text,
  allowance bigint, usage_cap bigint, factor_required integer not null default 0,
  created_at bigint not null, updated_at bigint not null
);
create table shop_counters (
  shop_id ${id} primary key not null references shops (id), last_number bigint not null,
  month text not null, month_used bigint not null, last_position bigint not null default 0, last_at bigint not null default 0
);
create table shop_settings (
  shop_id ${id} primary key not null references shops (id), name text, address text not null, phone text, email text,
  currency text, time_zone text, slip_text text, logo text, updated_at bigint not null
);
create table dangerous_goods (
  shop_id ${id} not null references shops (id), pattern text not null,
  constraint dangerous_goods_pkey primary key (shop_id, pattern)
);
create table target_days (
  shop_id ${id} not null references shops (id), status text not null, days integer not null,
  constraint target_days_pkey primary key (shop_id, status)
);
create table api_clients (
  id ${id} primary key not null, shop_id ${id} not null references shops (id), name text not null,
  key_hash text not null unique, webhook_url text, webhook_secret text not null,
  receiver_id ${id} not null, last_used_at bigint, revoked_at bigint, replaced_by ${id}, replaced_at bigint,
  created_at bigint not null, rights text not null default 'write', expires_at bigint, events text
);
create index api_clients_shop on api_clients (shop_id, created_at);
-- A client and those that replaced it are one receiver: events go to the one that was not replaced.
create unique index api_clients_receiver on api_clients (receiver_id) where replaced_by is null;
`;

/** Rows with `on delete cascade` are deleted with the person. */
const people = ({ id }: SchemaDialect): string => `
create table users (
  id ${id} primary key not null, shop_id ${id} not null references shops (id), email text not null unique, name text,
  role text not null, password_hash text not null, last_sign_in_at bigint, factor_secret text, factor_since bigint,
  factor_step bigint not null default 0, factor_removals integer not null default 0, password_exposed_at bigint,
  created_at bigint not null, provider_issuer text, provider_subject text, email_unconfirmed bigint not null default 0
);
create index users_shop on users (shop_id);
-- Both are null for people who never signed in at the identity provider, and nulls differ from each other.
create unique index users_provider on users (provider_issuer, provider_subject);
create table recovery_codes (
  user_id ${id} not null references users (id) on delete cascade, code_hash text not null,
  constraint recovery_codes_pkey primary key (user_id, code_hash)
);
create table removed_users (
  user_id ${id} primary key not null, shop_id ${id} not null, removed_at bigint not null
);
create table sessions (
  user_id ${id} not null references users (id) on delete cascade, token_hash text primary key not null, id text not null,
  created_at bigint not null, expires_at bigint not null, wrong_passwords integer not null default 0,
  proved_at bigint not null, browser text, address text not null, last_used_at bigint not null,
  through_provider bigint not null default 0
);
create index sessions_user on sessions (user_id);
create index sessions_expiry on sessions (expires_at);
create table access_links (
  user_id ${id} not null references users (id) on delete cascade, token_hash text primary key not null,
  expires_at bigint not null, confirms_email bigint not null default 0
);
create index access_links_user on access_links (user_id);
create index access_links_expiry on access_links (expires_at);
create table sign_in_addresses (
  user_id ${id} not null references users (id) on delete cascade, address text not null, seen_at bigint not null,
  constraint sign_in_addresses_pkey primary key (user_id, address)
);
create index sign_in_addresses_age on sign_in_addresses (seen_at);
create table sign_in_failures (
  key text primary key not null, failures integer not null, expires_at bigint not null, audit_id ${id}
);
create index sign_in_failures_expiry on sign_in_failures (expires_at);
create table audit_log (
  id ${id} primary key not null, shop_id ${id} not null, at bigint not null,
  actor_type text not null, actor_id ${id}, actor_name text not null, action text not null,
  subject_type text not null, subject_id ${id} not null, subject_name text not null, data text not null, address text
);
-- Ids rise with time, so this is also a shop's log in order.
create index audit_log_shop on audit_log (shop_id, id);
-- What was done with a former employee's account, and what they did.
create index audit_log_subject on audit_log (subject_id);
create index audit_log_actor on audit_log (actor_id) where actor_id is not null;
create index audit_log_address on audit_log (id) where address is not null;
create table saved_views (
  id ${id} primary key not null, shop_id ${id} not null references shops (id),
  user_id ${id} references users (id) on delete cascade,
  kind text not null, name text not null, search text not null, created_at bigint not null
);
create index saved_views_shop on saved_views (shop_id, id);
create index saved_views_user on saved_views (user_id);
`;

const KINDS = ['offline_repairs', 'trade_returns'] as const;
type ReturnTable = (typeof KINDS)[number];

/** The spelling is that of the statements (`returns/store.ts`, `personal-data/erase.ts`), so that these use the partial indexes. */
const IS_OPEN: Record<ReturnTable, string> = {
  offline_repairs: `status <> 'OFFLINE_CLOSED' and erased_at is null`,
  trade_returns: `status <> 'TRADE_REJECTED' and status <> 'TRADE_RESOLVED' and erased_at is null`,
};
const IS_FORGETTABLE: Record<ReturnTable, string> = {
  offline_repairs: `erased_at is null and status in ('OFFLINE_RESOLVED', 'OFFLINE_CLOSED')`,
  trade_returns: `erased_at is null and status in ('TRADE_REJECTED', 'TRADE_RESOLVED')`,
};

const returns = ({ id, search }: SchemaDialect): string => {
  const common = `
  id ${id} primary key not null, shop_id ${id} not null, receiver_id ${id}, number bigint not null,
  status text not null, status_since bigint not null, assignee_id ${id}, external_ref text, external_source text,
  customer_email text not null, customer_name text not null, customer_phone text,
  created_at bigint not null, updated_at bigint not null`;
  const waiting =
    'waiting_for text, waiting_until bigint, waiting_since bigint, waiting_note text, due_from bigint';
  return `
create table offline_repairs (${common},
  order_number text not null, search_text text not null default '', faulty_item text not null, serial_number text,
  fault_description text not null, store_id text not null, replacement_sku text, notes text, is_dangerous integer not null,
  tracking_number text, carrier_name text, offline_disposition text, assigned_to_id text, repair_notes text,
  erased_at bigint, ${waiting}
);
create table trade_returns (${common},
  trade_order_number text not null, search_text text not null, company_name text not null, company_id text not null,
  reason text not null, items text not null, shipping_address text not null, order_date text,
  customer_notes text, fault_description text, additional_comment text,
  receipts text, credit_amount text, erased_at bigint, ${waiting}
);
${KINDS.map(returnIndexes).join('')}
create index offline_repairs_order on offline_repairs (shop_id, order_number, number);
create index offline_repairs_store on offline_repairs (shop_id, store_id, number, status);
create index offline_repairs_serial on offline_repairs (shop_id, serial_number, number) where serial_number is not null;
create index trade_returns_order on trade_returns (shop_id, trade_order_number, number);
create index trade_returns_company on trade_returns (shop_id, company_id, number);
${search === 'scan' ? KINDS.map(scannedTexts).join('') : ''}
-- Kept instead of counted, for shops with a million RMAs.
create table rma_totals (
  shop_id ${id} not null, kind text not null, origin text not null, status text not null, count bigint not null,
  constraint rma_totals_pkey primary key (shop_id, kind, origin, status)
);
-- An RMA's times strictly rise, so (rma, time) names an entry and keeps the timeline in order on disk.
create table timeline (
  rma_id ${id} not null, at bigint not null, id ${id} not null, type text not null,
  actor_type text not null, actor_id ${id}, actor_name text not null, from_status text, to_status text, note text,
  data text not null, constraint timeline_pkey primary key (rma_id, at)
);
-- Corrections keep old values, by which a customer is found too.
create index timeline_corrected on timeline (rma_id, at) where type = 'CORRECTED';
-- A person's entries that still name them, spelled as in personal-data/erasures.ts. In {"assigneeId":"…","assigneeName":"…"} the id
-- begins at 16 and the name at 70.
create index timeline_person on timeline (actor_id) where actor_type = 'USER' and actor_name <> '[erased]';
create index timeline_assignee on timeline (substr(data, 16, 36)) where type = 'ASSIGNED' and substr(data, 70) <> '[erased]"}';
create table idempotency_keys (
  owner_id ${id} not null, key text not null, body_hash text not null, response text not null, created_at bigint not null,
  constraint idempotency_keys_pkey primary key (owner_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);
`;
};

/** Most indexes end with the number, so that their rows have the order of a list. */
const returnIndexes = (kind: ReturnTable): string => `
create unique index ${kind}_number on ${kind} (shop_id, number);
-- With the time of creation, so that counts by status and age are read from the index alone.
create index ${kind}_status on ${kind} (shop_id, status, number, created_at);
create index ${kind}_updated on ${kind} (shop_id, updated_at);
create index ${kind}_created on ${kind} (shop_id, created_at);
create index ${kind}_external_ref on ${kind} (shop_id, external_ref, number) where external_ref is not null;
create index ${kind}_external_source on ${kind} (shop_id, external_source, number) where external_source is not null;
create index ${kind}_assignee on ${kind} (shop_id, assignee_id, number) where assignee_id is not null;
-- It has all columns by which open returns are counted and sorted. Without the status SQLite would not count from it: 480 ms instead of 30
-- for 80,000 open returns of a million.
create index ${kind}_open on ${kind} (shop_id, number, assignee_id, created_at, updated_at, status) where ${IS_OPEN[kind]};
-- Covers what due times are read from: SQLite sorts 100,000 open returns by them in 45 ms instead of 130, and PostgreSQL counts
-- 80,000 of a million in 35 ms instead of 600.
create index ${kind}_waiting on ${kind}
  (shop_id, status_since, number, status, erased_at, due_from, waiting_since, waiting_for, created_at, assignee_id)
  where ${IS_OPEN[kind]};
create index ${kind}_forgettable on ${kind} (shop_id, status_since) where ${IS_FORGETTABLE[kind]};
create index ${kind}_customer on ${kind} (shop_id, lower(customer_email), number);
`;

/** Scanning this index alone reads a million texts in about a tenth of a second. */
const scannedTexts = (kind: ReturnTable): string => `
create index ${kind}_search on ${kind} (shop_id, number, search_text);
`;

/** Codes for an extension that the user may not create or the server does not have. Other errors fail the migration (ADR 0016). */
const NOT_AVAILABLE = new Set(['42501', '0A000', '58P01', '42704']);

/** Without the extension searches read all texts of the shop. */
const addTrigrams = async (db: Kysely<unknown>, notice: (message: string) => void): Promise<void> => {
  await sql`savepoint before_trigrams`.execute(db);
  try {
    await sql`create extension if not exists pg_trgm`.execute(db);
    // A database has the extension once, perhaps in the schema of another installation.
    const { rows } = await sql<{ schema: string }>`
      select extnamespace::regnamespace::text as schema from pg_extension where extname = 'pg_trgm'`.execute(
      db,
    );
    for (const kind of KINDS)
      await sql`create index ${sql.id(`${kind}_search`)} on ${sql.table(kind)}
        using gin (search_text ${sql.raw(rows[0]?.schema ?? 'public')}.gin_trgm_ops)`.execute(db);
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    if (!NOT_AVAILABLE.has(code)) throw error;
    await sql`rollback to savepoint before_trigrams`.execute(db);
    notice(
      `the extension pg_trgm is not available (${code}): searches work without it, and take longer the more returns a shop has`,
    );
  }
};

const events = ({ id }: SchemaDialect): string => `
-- A shop's events in the order of their commits. A delivery has the id of its event, and finds its body here.
create table events (
  shop_id ${id} not null, position bigint not null, id ${id} not null, rma_id ${id} not null, event text not null,
  at bigint not null, body text not null, constraint events_pkey primary key (shop_id, position)
);
-- Ids rise with time, so the clean-up finds the oldest events by it as well.
create unique index events_id on events (id);
-- A test event is about no RMA.
create table webhook_deliveries (
  id ${id} primary key not null, receiver_id ${id} not null, rma_id ${id}, event text not null, body text not null,
  status text not null, attempts integer not null, attempt_log text not null, due_at bigint not null,
  created_at bigint not null, finished_at bigint, reason text
);
-- The queue, receiver by receiver: one with a backlog is skipped in one step. First attempts have an index of their own,
-- since they are due whatever clock wrote them (ADR 0010). Neither is in the order of ids: SQLite would then read the
-- index of all deliveries of a client instead, including those that have ended.
create index webhook_deliveries_first on webhook_deliveries (receiver_id, due_at) where status = 'PENDING' and attempts = 0;
create index webhook_deliveries_retry on webhook_deliveries (receiver_id, due_at) where status = 'PENDING' and attempts > 0;
-- Ids rise with time, so these are also a client's deliveries in order.
create index webhook_deliveries_receiver on webhook_deliveries (receiver_id, id);
create index webhook_deliveries_rma on webhook_deliveries (receiver_id, rma_id, id);
create index webhook_deliveries_dropped on webhook_deliveries (receiver_id, id) where status = 'DROPPED';
-- Which process sends to a receiver. Deliveries have no holder, so pending ones are read and not written.
create table webhook_leases (
  receiver_id ${id} primary key not null, holder text not null, held_until bigint not null
);
create table webhook_failures (
  receiver_id ${id} primary key not null, since bigint not null, failed_attempts bigint not null,
  dropped_deliveries bigint not null, last_error text not null, notified_at bigint
);
`;

const personalData = ({ id }: SchemaDialect): string => `
create table forget_rules (
  shop_id ${id} not null references shops (id), kind text not null, months integer not null,
  constraint forget_rules_pkey primary key (shop_id, kind)
);
create table erasures (
  subject_id ${id} primary key not null, shop_id ${id} not null, kind text not null, at bigint not null, progress ${id},
  failures bigint not null default 0
);
create index erasures_unfinished on erasures (failures, subject_id) where progress is not null;
`;

const installation = ({ rateLimits, times }: SchemaDialect): string => `
create table installation (name text primary key not null, value text not null);
-- Times of an address's last calls, in milliseconds, and how many of the latest it was allowed. SQLite counts in memory.
create ${rateLimits} rate_limits (
  key text primary key not null, times ${times} not null, taken integer not null, expire double precision not null
);
`;
