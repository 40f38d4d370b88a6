import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from './context.ts';
import { CHECK_PLACE, findCheck } from './secret-keys.ts';
import type { Place } from './secrets.ts';
import { webhookSecretPlace } from './webhooks/secret.ts';

const BATCH = 100;

export interface Resealed {
  /** Values that another key had sealed, or that were bound to no row. */
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

/** Seals everything anew with the first key. It works beside running servers, and may be repeated. */
export const resealAll = async (ctx: Context): Promise<Resealed> => {
  const done: Resealed = { resealed: 0, total: 0, failed: [] };
  let after = '';
  for (;;) {
    const batch = await readClients(ctx, after);
    const last = batch.at(-1);
    if (!last) break;
    await resealBatch(ctx, batch, done);
    after = last.place.id;
    await nextTurn();
  }
  // Last: as long as it has its old key, that key is still asked for at every start.
  const check = await findCheck(ctx.db);
  if (check !== null) await resealBatch(ctx, [{ place: CHECK_PLACE, value: check }], done);
  return done;
};

const readClients = async ({ db }: Context, after: string): Promise<Sealed[]> => {
  const rows = await db
    .selectFrom('api_clients')
    .select(['id', 'webhook_secret'])
    .$if(after !== '', (query) => query.where('id', '>', after))
    .orderBy('id')
    .limit(BATCH)
    .execute();
  return rows.map((row) => ({ place: webhookSecretPlace(row.id), value: row.webhook_secret }));
};

const resealBatch = async ({ db, secrets }: Context, batch: Sealed[], done: Resealed): Promise<void> => {
  const changes: (Sealed & { next: string })[] = [];
  for (const { place, value } of batch) {
    try {
      const plain = secrets.open(value, place);
      if (!secrets.isCurrent(value)) changes.push({ place, value, next: secrets.seal(plain, place) });
    } catch {
      // The caller names it to the operator.
      done.failed.push(place);
    }
  }
  done.total += batch.length;
  if (changes.length === 0) return;
  done.resealed += await db.transaction().execute(async (trx) => {
    let changed = 0;
    for (const { place, value, next } of changes) {
      // Only where it is still what was read: somebody may have replaced it meanwhile.
      const { numUpdatedRows } =
        place.table === CHECK_PLACE.table
          ? await trx
              .updateTable('installation')
              .set({ value: next })
              .where('name', '=', place.id)
              .where('value', '=', value)
              .executeTakeFirst()
          : await trx
              .updateTable('api_clients')
              .set({ webhook_secret: next })
              .where('id', '=', place.id)
              .where('webhook_secret', '=', value)
              .executeTakeFirst();
      changed += Number(numUpdatedRows);
    }
    return changed;
  });
};
