import { hash } from '@node-rs/argon2';
import type { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import { readConfig } from '../../src/config.ts';
import { initial } from '../../src/db/migrations/0001-initial.ts';
import { openDatabase } from '../../src/db/open.ts';
import { SCHEMA_WORDS as postgresWords } from '../../src/db/postgres/schema-words.ts';
import { SCHEMA_WORDS as sqliteWords } from '../../src/db/sqlite/schema-words.ts';
import { newId } from '../../src/ids.ts';
import { secretBox, sha256 } from '../../src/secrets.ts';
import { sealWebhookSecret } from '../../src/webhooks/secret.ts';
import { ENGINE } from './harness.ts';
import { type Env, emptyDatabase, SECRET_KEY } from './process.ts';
import { UNOBSERVED } from './unobserved.ts';

// A database as the first migration left it, with rows in each of its tables, written by statements of that day.

const DAY_MS = 24 * 60 * 60 * 1000;
const STATUSES = ['COUNTER_SWAPPED', 'OFFLINE_DIAGNOSTICS', 'OFFLINE_REPAIR', 'OFFLINE_RESOLVED'];
const AT_ONCE = 100;

export interface OldRepair {
  id: string;
  number: number;
  status: string;
  orderNumber: string;
  at: number;
}

export interface OldShop {
  id: string;
  key: string;
  clientId: string;
  email: string;
  goods: string[];
  /** Remembered under an Idempotency-Key. */
  keys: string[];
  repairs: OldRepair[];
}

export const PASSWORD = 'correct horse battery';
export const WEBHOOK_SECRET = 'a webhook secret of long ago';

// biome-ignore lint/suspicious/noExplicitAny: the schema of that day, not today's
type OldDb = Kysely<any>;

const insert = async (db: OldDb, table: string, rows: object[]): Promise<void> => {
  for (let from = 0; from < rows.length; from += AT_ONCE)
    await db
      .insertInto(table)
      .values(rows.slice(from, from + AT_ONCE))
      .execute();
};

const migrateToFirst = async (db: OldDb): Promise<void> => {
  const words = { ...(ENGINE === 'postgres' ? postgresWords : sqliteWords), notice() {} };
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: async () => ({ '0001-initial': { up: (at) => initial(at, words) } }) },
  }).migrateToLatest();
  if (error) throw error;
};

/** Settings of a database with so many shops, each with so many repairs; webhooks go to the URL. */
export const firstSchema = async (
  shopCount: number,
  repairCount: number,
  webhookUrl: string,
): Promise<{ env: Env; shops: OldShop[] }> => {
  const env = { ...(await emptyDatabase()), SECRET_KEY };
  const database = openDatabase(readConfig(env), UNOBSERVED);
  try {
    const db = database.db as OldDb;
    await migrateToFirst(db);
    const passwordHash = await hash(PASSWORD);
    const shops: OldShop[] = [];
    for (let i = 0; i < shopCount; i++)
      shops.push(await addShop(db, i, { repairCount, webhookUrl, passwordHash }));
    await insert(db, 'installation', [{ name: 'kept-since-then', value: 'yes' }]);
    await insert(db, 'rate_limits', [{ key: 'creations:10.0.0.1', points: 3, expire: Date.now() }]);
    return { env, shops };
  } finally {
    await database.close();
  }
};

interface Filling {
  repairCount: number;
  webhookUrl: string;
  passwordHash: string;
}

const addShop = async (
  db: OldDb,
  n: number,
  { repairCount, webhookUrl, passwordHash }: Filling,
): Promise<OldShop> => {
  const now = Date.now();
  const at = now - 40 * DAY_MS;
  const [id, clientId] = [newId(at), newId(at)];
  const key = `handback_ext_${sha256(`old key ${n}`).slice(0, 48)}`;
  const email = `admin-${n}@example.com`;
  const goods = [`ACID-${n}`, 'LI-ION-*'];
  const sealed = sealWebhookSecret(secretBox([SECRET_KEY]), clientId, WEBHOOK_SECRET);
  const month = new Date(now).toISOString().slice(0, 7);
  await insert(db, 'shops', [
    {
      ...{ id, name: `Shop ${n}`, plan: 'ENTERPRISE', subscription: 'active' },
      ...{ created_at: at, updated_at: at },
    },
  ]);
  await insert(db, 'shop_counters', [
    { shop_id: id, last_number: repairCount, month, month_used: repairCount },
  ]);
  await insert(
    db,
    'dangerous_goods',
    goods.map((pattern) => ({ shop_id: id, pattern })),
  );
  await insert(db, 'api_clients', [
    {
      ...{ id: clientId, shop_id: id, name: `Till ${n}`, key_hash: sha256(key) },
      ...{ webhook_url: webhookUrl, webhook_secret: sealed, created_at: at },
    },
  ]);
  await insert(db, 'users', [
    { id: newId(at), shop_id: id, email, role: 'ADMIN', password_hash: passwordHash, created_at: at },
  ]);
  const repairs = Array.from({ length: repairCount }, (_, i) => oldRepair(i, at + i * 1000));
  await insert(
    db,
    'offline_repairs',
    repairs.map((repair) => repairRow(repair, id, clientId)),
  );
  await insert(db, 'timeline', repairs.flatMap(timelineRows(clientId)));
  const keys = repairs.map(({ orderNumber }) => `key of ${orderNumber}`);
  const kept = { client_id: clientId, body_hash: sha256('another body'), answer: '{}', created_at: now };
  await insert(
    db,
    'idempotency_keys',
    keys.map((each) => ({ ...kept, key: each })),
  );
  return { id, key, clientId, email, goods, keys, repairs };
};

const oldRepair = (i: number, at: number): OldRepair => ({
  id: newId(at),
  number: i + 1,
  status: STATUSES[i % STATUSES.length] as string,
  orderNumber: `SO-${i}`,
  at,
});

const repairRow = ({ id, number, status, orderNumber, at }: OldRepair, shop: string, client: string) => ({
  ...{ id, shop_id: shop, client_id: client, number, status, order_number: orderNumber },
  ...{ customer_email: 'ada@example.com', customer_name: 'Ada Pereira', customer_phone: '+44 20 7946 0018' },
  faulty_item: JSON.stringify({ sku: 'KETTLE-17', productName: 'Kettle', quantity: 1, price: 49.95 }),
  ...{ fault_description: 'Does not heat up', store_id: 'store-7', is_dangerous: 0 },
  ...{ created_at: at, updated_at: at + 1 },
});

const timelineRows =
  (clientId: string) =>
  ({ id, status, at }: OldRepair) =>
    [
      { at, type: 'CREATED', from_status: null },
      { at: at + 1, type: 'STATUS_CHANGED', from_status: 'OFFLINE_DIAGNOSTICS' },
    ].map((entry) => ({
      ...{ rma_id: id, id: newId(entry.at), to_status: status, data: '{}' },
      ...{ actor_type: 'API_CLIENT', actor_id: clientId, actor_name: 'Till', ...entry },
    }));
