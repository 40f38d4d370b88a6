import type { Kysely } from 'kysely';
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
};

export const MIGRATIONS: readonly string[] = Object.keys(CHANGES);

const migrator = (db: Kysely<Tables>, words: SchemaWords): Migrator => {
  const migrations: Record<string, Migration> = Object.fromEntries(
    Object.entries(CHANGES).map(([name, change]) => [name, { up: (at) => change(at, words) }]),
  );
  return new Migrator({ db, provider: { getMigrations: async () => migrations } });
};

export const migrateToLatest = (db: Kysely<Tables>, words: SchemaWords): Promise<void> =>
  migrateTo(db, words, null);

/** Up to this migration; null: to the latest. */
export const migrateTo = async (
  db: Kysely<Tables>,
  words: SchemaWords,
  name: string | null,
): Promise<void> => {
  const all = migrator(db, words);
  const { error } = await (name === null ? all.migrateToLatest() : all.migrateTo(name));
  if (error) throw error;
};
