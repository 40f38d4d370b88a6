import { sql } from 'kysely';
import type { SchemaChange } from '../migrate.ts';

/** Ended, spelt as statements spell it (`personal-data/forget.ts`), so that they find the index. New returns are not in it. */
const ENDED = {
  offline_repairs: `status in ('OFFLINE_RESOLVED', 'OFFLINE_CLOSED')`,
  trade_returns: `status in ('TRADE_REJECTED', 'TRADE_RESOLVED')`,
};

export const personalData: SchemaChange = async (db, { id }) => {
  const ofKind = Object.entries(ENDED).flatMap(([kind, ended]) => [
    `alter table ${kind} add column erased_at bigint`,
    `create index ${kind}_forgettable on ${kind} (shop_id, status_since) where erased_at is null and ${ended}`,
  ]);
  const statements = [
    ...ofKind,
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
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
};
