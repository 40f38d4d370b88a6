import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { factorPlace } from '../staff/second-factor.ts';
import { webhookSecretPlace } from '../webhooks/outbox.ts';
import type { Context } from './context.ts';
import { findCheck, SEALED_CHECK, type SealedFor, type SecretBox } from './secrets.ts';

const BATCH = 100;
/** Sorts before every id. */
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

interface Sealed {
  place: SealedFor;
  value: string;
}

interface Opened {
  total: number;
  /** The rows whose value no key opens. They stay as they are. */
  failed: SealedFor[];
}

/** Every sealed value. The key check is last: as long as it has its old key, every start still requires that key. */
async function* sealedBatches(db: Db): AsyncGenerator<Sealed[]> {
  for (const placeOf of [webhookSecretPlace, factorPlace])
    for (let after: string | undefined = LOWEST_ID; after; ) {
      const batch = await sealedAfter(db, placeOf, after);
      if (batch.length > 0) yield batch;
      after = batch.at(-1)?.place.id;
      await nextTurn();
    }
  const check = await findCheck(db);
  if (check !== null) yield [{ place: SEALED_CHECK, value: check }];
}

const sealedAfter = async (db: Db, placeOf: (id: string) => SealedFor, after: string): Promise<Sealed[]> => {
  const { table, column } = placeOf(after);
  const { rows } = await sql<{ id: string; value: string }>`
    select id, ${sql.ref(column)} as value from ${sql.table(table)}
    where id > ${after} and ${sql.ref(column)} is not null order by id limit ${sql.lit(BATCH)}`.execute(db);
  return rows.map(({ id, value }) => ({ place: placeOf(id), value }));
};

/** Seals everything anew with the first key. It may run while servers do, and may be repeated. */
export const resealAll = async ({ db, secrets }: Context): Promise<Opened & { resealed: number }> => {
  const done = { resealed: 0, total: 0, failed: [] };
  for await (const batch of sealedBatches(db))
    for (const { plain, ...sealed } of openAll(secrets, batch, done))
      if (!secrets.isCurrent(sealed.value))
        done.resealed += await replace(db, sealed, secrets.seal(plain, sealed.place));
  return done;
};

/** Opens everything that is sealed, and changes nothing. `onBatch` may throw to end it. */
export const tryAllSealed = async (db: Db, secrets: SecretBox, onBatch: () => void): Promise<Opened> => {
  const tried = { total: 0, failed: [] };
  for await (const batch of sealedBatches(db)) {
    onBatch();
    openAll(secrets, batch, tried);
  }
  return tried;
};

const openAll = (secrets: SecretBox, batch: Sealed[], opened: Opened): (Sealed & { plain: string })[] => {
  opened.total += batch.length;
  return batch.flatMap((sealed) => {
    try {
      return [{ ...sealed, plain: secrets.open(sealed.value, sealed.place) }];
    } catch {
      // The caller names it to the operator.
      opened.failed.push(sealed.place);
      return [];
    }
  });
};

/** Only where it is still what was read: another process may have replaced it. */
const replace = async (db: Db, { place, value }: Sealed, next: string): Promise<number> => {
  const [column, id] = [sql.ref(place.column), sql.ref(place === SEALED_CHECK ? 'name' : 'id')];
  const { numAffectedRows } = await sql`update ${sql.table(place.table)} set ${column} = ${next}
    where ${id} = ${place.id} and ${column} = ${value}`.execute(db);
  return Number(numAffectedRows);
};
