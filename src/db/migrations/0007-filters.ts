import { type Kysely, sql } from 'kysely';
import { fold, phoneDigits } from '../../lib/fold.ts';
import type { SchemaChange } from '../migrate.ts';

const KINDS = ['offline_repairs', 'trade_returns'] as const;
const ROWS_AT_ONCE = 500;
/** Accents, apostrophes and what is typed in their place. */
const NOT_PLAIN = '[^ -&(-_a-~]';
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * An index for each filter that had none; indexes by which the entries of one person are found in all timelines; and the text that
 * staff search in without accents and apostrophes.
 */
export const filters: SchemaChange = async (db, { search }) => {
  for (const kind of KINDS)
    await sql
      .raw(
        `create index ${kind}_external_source on ${kind} (shop_id, external_source, number) where external_source is not null`,
      )
      .execute(db);
  await sql`create index timeline_person on timeline (actor_id) where actor_type = 'USER'`.execute(db);
  // The id in {"assigneeId":"…"}, as `personal-data/erasures.ts` spells it.
  await sql`create index timeline_assignee on timeline (substr(data, 16, 36)) where type = 'ASSIGNED'`.execute(
    db,
  );
  await sql`alter table erasures add column failures bigint not null default 0`.execute(db);
  await sql`drop index erasures_unfinished`.execute(db);
  await sql`
    create index erasures_unfinished on erasures (failures, subject_id) where done_to is not null`.execute(
    db,
  );
  for (const kind of KINDS) await foldTexts(db, kind, search);
};

// biome-ignore lint/suspicious/noExplicitAny: a migration sees the schema of its own day, not today's
const foldTexts = async (db: Kysely<any>, kind: string, search: string): Promise<void> => {
  // What is plain already stays as it is, which most texts are.
  const isNotPlain =
    search === 'trigrams' ? sql`search_text ~ ${NOT_PLAIN}` : sql`search_text glob ${`*${NOT_PLAIN}*`}`;
  for (let after = LOWEST_ID; ; ) {
    const { rows } = await sql<{ id: string; search_text: string; customer_phone: string | null }>`
      select id, search_text, customer_phone from ${sql.table(kind)}
      where id > ${after} and (${isNotPlain} or customer_phone like '%(0)%')
      order by id limit ${sql.lit(ROWS_AT_ONCE)}`.execute(db);
    for (const { id, search_text, customer_phone } of rows) {
      const digits = customer_phone?.replaceAll(/\D+/g, '') ?? '';
      const text =
        digits !== '' && search_text.endsWith(` ${digits}`)
          ? `${search_text.slice(0, -digits.length)}${phoneDigits(customer_phone ?? '')}`
          : search_text;
      await sql`update ${sql.table(kind)} set search_text = ${fold(text)} where id = ${id}`.execute(db);
    }
    after = rows.at(-1)?.id ?? after;
    if (rows.length < ROWS_AT_ONCE) return;
  }
};
