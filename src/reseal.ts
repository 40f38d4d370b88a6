import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from './context.ts';
import type { Db, Trx } from './db/database.ts';
import { CHECK_PLACE, findCheck } from './secret-keys.ts';
import type { Place, SecretBox } from './secrets.ts';
import { factorPlace } from './staff/second-factor.ts';
import { webhookSecretPlace } from './webhooks/secret.ts';

const BATCH = 100;

export interface Resealed {
  /** Values that another key had sealed. */
  resealed: number;
  /** All sealed values. */
  total: number;
  /** The rows whose value no key opens. They stay as they are. */
  failed: Place[];
}

interface Sealed {
  place: Place;
  value: string;
}

/** Where sealed values are kept: how to read those after an id, and how to replace one that is still what was read. */
interface Source {
  read(from: { db: Db }, after: string): Promise<Sealed[]>;
  replace(trx: Trx, sealed: Sealed, next: string): Promise<{ numUpdatedRows: bigint }>;
}

const webhookSecrets: Source = {
  async read({ db }, after) {
    const rows = await db
      .selectFrom('api_clients')
      .select(['id', 'webhook_secret'])
      .$if(after !== '', (query) => query.where('id', '>', after))
      .orderBy('id')
      .limit(BATCH)
      .execute();
    return rows.map((row) => ({ place: webhookSecretPlace(row.id), value: row.webhook_secret }));
  },
  replace: (trx, { place, value }, next) =>
    trx
      .updateTable('api_clients')
      .set({ webhook_secret: next })
      .where('id', '=', place.id)
      .where('webhook_secret', '=', value)
      .executeTakeFirst(),
};

const secondFactors: Source = {
  async read({ db }, after) {
    const rows = await db
      .selectFrom('users')
      .select(['id', 'factor_secret'])
      .where('factor_secret', 'is not', null)
      .$if(after !== '', (query) => query.where('id', '>', after))
      .orderBy('id')
      .limit(BATCH)
      .execute();
    return rows.map((row) => ({ place: factorPlace(row.id), value: row.factor_secret ?? '' }));
  },
  replace: (trx, { place, value }, next) =>
    trx
      .updateTable('users')
      .set({ factor_secret: next })
      .where('id', '=', place.id)
      .where('factor_secret', '=', value)
      .executeTakeFirst(),
};

/** Last: as long as it has its old key, that key is still asked for at every start. */
const keyCheck: Source = {
  async read({ db }, after) {
    const check = after === '' ? await findCheck(db) : null;
    return check === null ? [] : [{ place: CHECK_PLACE, value: check }];
  },
  replace: (trx, { place, value }, next) =>
    trx
      .updateTable('installation')
      .set({ value: next })
      .where('name', '=', place.id)
      .where('value', '=', value)
      .executeTakeFirst(),
};

const SOURCES = [webhookSecrets, secondFactors, keyCheck];

/** Seals everything anew with the first key. It works beside running servers, and may be repeated. */
export const resealAll = async (ctx: Context): Promise<Resealed> => {
  const done: Resealed = { resealed: 0, total: 0, failed: [] };
  for (const source of SOURCES)
    for await (const batch of batchesOf(source, ctx.db)) await resealBatch(ctx, source, batch, done);
  return done;
};

async function* batchesOf(source: Source, db: Db): AsyncGenerator<Sealed[]> {
  for (let after = ''; ; ) {
    const batch = await source.read({ db }, after);
    const last = batch.at(-1);
    if (!last) return;
    yield batch;
    after = last.place.id;
    await nextTurn();
  }
}

/** Opens everything that is sealed, and changes nothing. `onBatch` may throw to end it. */
export const tryAllSealed = async (
  db: Db,
  secrets: SecretBox,
  onBatch: () => void,
): Promise<Pick<Resealed, 'total' | 'failed'>> => {
  const tried = { total: 0, failed: [] as Place[] };
  for (const source of SOURCES)
    for await (const batch of batchesOf(source, db)) {
      onBatch();
      tried.total += batch.length;
      tried.failed.push(...batch.filter((sealed) => !opens(secrets, sealed)).map(({ place }) => place));
    }
  return tried;
};

const opens = (secrets: SecretBox, { value, place }: Sealed): boolean => {
  try {
    secrets.open(value, place);
    return true;
  } catch {
    // The caller names it to the operator.
    return false;
  }
};

const resealBatch = async (
  { db, secrets }: Context,
  source: Source,
  batch: Sealed[],
  done: Resealed,
): Promise<void> => {
  const changes: { sealed: Sealed; next: string }[] = [];
  for (const sealed of batch) {
    try {
      const plain = secrets.open(sealed.value, sealed.place);
      if (!secrets.isCurrent(sealed.value)) changes.push({ sealed, next: secrets.seal(plain, sealed.place) });
    } catch {
      // The caller names it to the operator.
      done.failed.push(sealed.place);
    }
  }
  done.total += batch.length;
  if (changes.length === 0) return;
  done.resealed += await db.transaction().execute(async (trx) => {
    let changed = 0;
    for (const { sealed, next } of changes) {
      // Only where it is still what was read: somebody may have replaced it meanwhile.
      const { numUpdatedRows } = await source.replace(trx, sealed, next);
      changed += Number(numUpdatedRows);
    }
    return changed;
  });
};
