import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Context } from '../api/context.ts';
import type { Db } from '../db/types.ts';
import { findCheck, openOrNull, SEALED_CHECK, type SealedFor, type SecretBox } from '../platform/secrets.ts';
import { factorColumn } from '../staff/second-factor.ts';
import { webhookSecretColumn } from '../webhooks/outbox.ts';

const READ_AT_ONCE = 100;
/** Sorts before every id. */
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

/** Every sealed value. The key check is last: as long as it has its old key, every start still requires that key. */
export async function* sealedValues(db: Db, secrets: SecretBox) {
  const read = (sealedFor: SealedFor, value: string) => ({
    sealedFor,
    value,
    plain: openOrNull(secrets, value, sealedFor),
  });
  for (const columnOf of [webhookSecretColumn, factorColumn])
    for (let after: string | undefined = LOWEST_ID; after; ) {
      const { table, column } = columnOf(after);
      const { rows }: { rows: { id: string; value: string }[] } = await sql<{ id: string; value: string }>`
        select id, ${sql.ref(column)} as value from ${sql.table(table)}
        where id > ${after} and ${sql.ref(column)} is not null order by id limit ${sql.lit(READ_AT_ONCE)}`.execute(
        db,
      );
      for (const { id, value } of rows) yield read(columnOf(id), value);
      after = rows.at(-1)?.id;
      await nextTurn();
    }
  const check = await findCheck(db);
  if (check !== null) yield read(SEALED_CHECK, check);
}

/** Seals all values again with the first key. It may run beside servers, and be repeated. A value that no key opens stays as it is. */
export const resealAll = async ({ db, secrets }: Context) => {
  const done = { resealed: 0, total: 0, failed: [] as SealedFor[] };
  for await (const { sealedFor, value, plain } of sealedValues(db, secrets)) {
    done.total += 1;
    if (plain === null) done.failed.push(sealedFor);
    else if (!secrets.isCurrent(value))
      done.resealed += await replace(db, sealedFor, value, secrets.seal(plain, sealedFor));
  }
  return done;
};

/** Writes the value if it is unchanged since it was read: another process may have replaced it. */
const replace = async (db: Db, sealedFor: SealedFor, value: string, next: string): Promise<number> => {
  const [column, id] = [sql.ref(sealedFor.column), sql.ref(sealedFor === SEALED_CHECK ? 'name' : 'id')];
  const { numAffectedRows } = await sql`update ${sql.table(sealedFor.table)} set ${column} = ${next}
    where ${id} = ${sealedFor.id} and ${column} = ${value}`.execute(db);
  return Number(numAffectedRows);
};
