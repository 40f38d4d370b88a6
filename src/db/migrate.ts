import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { initial } from './migrations/0001-initial.ts';
import { webhookDeliveries } from './migrations/0002-webhook-deliveries.ts';
import { tradeReturns } from './migrations/0003-trade-returns.ts';
import { people } from './migrations/0004-people.ts';
import { atScale } from './migrations/0005-at-scale.ts';
import { bursts } from './migrations/0006-bursts.ts';
import { webhookLeases } from './migrations/0007-webhook-leases.ts';
import { signIn } from './migrations/0008-sign-in.ts';
import { events } from './migrations/0009-events.ts';
import { names } from './migrations/0010-names.ts';
import { deliveries } from './migrations/0011-deliveries.ts';
import { workbench } from './migrations/0012-workbench.ts';
import { shopSettings } from './migrations/0013-shop-settings.ts';
import { access } from './migrations/0014-access.ts';
import { productNames } from './migrations/0015-product-names.ts';
import type { SchemaChange, SchemaWords } from './schema-change.ts';
import type { Tables } from './tables.ts';

/** Forward only, in this order, never edited once released. */
const CHANGES: Record<string, SchemaChange> = {
  '0001-initial': initial,
  '0002-webhook-deliveries': webhookDeliveries,
  '0003-trade-returns': tradeReturns,
  '0004-people': people,
  '0005-at-scale': atScale,
  '0006-bursts': bursts,
  '0007-webhook-leases': webhookLeases,
  '0008-sign-in': signIn,
  '0009-events': events,
  '0010-names': names,
  '0011-deliveries': deliveries,
  '0012-workbench': workbench,
  '0013-shop-settings': shopSettings,
  '0014-access': access,
  '0015-product-names': productNames,
};

export const MIGRATIONS: readonly string[] = Object.keys(CHANGES);

/** Nothing to do: a later release, which runs beside this one or ran before it, has done it. */
const DONE: Migration = { up: async () => {} };

const migrator = (db: Kysely<Tables>, words: SchemaWords, doneLater: string[] = []): Migrator => {
  const migrations: Record<string, Migration> = {
    ...Object.fromEntries(
      Object.entries(CHANGES).map(([name, change]) => [name, { up: (at) => change(at, words) }]),
    ),
    ...Object.fromEntries(doneLater.map((name) => [name, DONE])),
  };
  return new Migrator({ db, provider: { getMigrations: async () => migrations } });
};

/** Changes that this release does not know, all of which come after its own. */
const changesOfLaterReleases = async (db: Kysely<Tables>): Promise<string[]> => {
  const newest = MIGRATIONS.at(-1) ?? '';
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return rows.map(({ name }) => name).filter((name) => name > newest);
};

/**
 * A database that a later release has migrated is taken as it is, since releases only add (decision 191): in a rolling upgrade the
 * earlier release may start again beside the later one, and one may go back to it.
 */
export const migrateToLatest = async (db: Kysely<Tables>, words: SchemaWords): Promise<void> => {
  let doneLater: string[] = [];
  for (;;) {
    const { error } = await migrator(db, words, doneLater).migrateToLatest();
    if (!error) return;
    const found = await changesOfLaterReleases(db).catch(() => []);
    // Nothing new to know of: it failed for another reason.
    if (found.length === doneLater.length) throw error;
    doneLater = found;
  }
};

/** Up to this migration, in a database that is being restored; null: to the latest. */
export const migrateTo = async (
  db: Kysely<Tables>,
  words: SchemaWords,
  name: string | null,
): Promise<void> => {
  const all = migrator(db, words);
  const { error } = await (name === null ? all.migrateToLatest() : all.migrateTo(name));
  if (error) throw error;
};
