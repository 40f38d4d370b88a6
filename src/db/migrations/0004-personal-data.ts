import { sql } from 'kysely';
import type { SchemaChange } from '../migrate.ts';

/** Spelt as statements spell it (`personal-data/erase.ts`, `returns/store.ts`), so that they find the indexes. */
const KINDS = {
  offline_repairs: {
    ended: `status in ('OFFLINE_RESOLVED', 'OFFLINE_CLOSED')`,
    open: `status <> 'OFFLINE_CLOSED'`,
  },
  trade_returns: {
    ended: `status in ('TRADE_REJECTED', 'TRADE_RESOLVED')`,
    open: `status <> 'TRADE_REJECTED' and status <> 'TRADE_RESOLVED'`,
  },
};

export const personalData: SchemaChange = async (db, { id }) => {
  const ofKind = Object.entries(KINDS).flatMap(([kind, { ended, open }]) => [
    `alter table ${kind} add column erased_at bigint`,
    `create index ${kind}_forgettable on ${kind} (shop_id, status_since) where erased_at is null and ${ended}`,
    // What is erased is not open any more, whatever its status.
    `drop index ${kind}_open`,
    `drop index ${kind}_waiting`,
    `create index ${kind}_open on ${kind} (shop_id, number, assignee_id, created_at, updated_at, status) where ${open} and erased_at is null`,
    `create index ${kind}_waiting on ${kind} (shop_id, status_since, number, status) where ${open} and erased_at is null`,
  ]);
  const statements = [
    // Corrections keep old values, by which a customer is found too.
    `create index timeline_corrected on timeline (rma_id, at) where type = 'CORRECTED'`,
    // What a former employee did, and what was done with their account.
    `create index audit_log_subject on audit_log (subject_id)`,
    `create index audit_log_actor on audit_log (actor_id) where actor_id is not null`,
    `create index audit_log_address on audit_log (id) where address is not null`,
    `create table forget_rules (
      shop_id ${id} not null references shops (id), kind text not null, months integer not null,
      constraint forget_rules_pkey primary key (shop_id, kind)
    )`,
    `create table erasures (
      subject_id ${id} primary key not null, shop_id ${id} not null, kind text not null, at bigint not null, done_to ${id}
    )`,
    `create index erasures_unfinished on erasures (subject_id) where done_to is not null`,
    // Last, since PostgreSQL stops readers of these tables from here until the commit.
    ...ofKind,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
};
