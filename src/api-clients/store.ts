import { type Insertable, sql, type Updateable } from 'kysely';
import type { Db, Trx } from '../db/database.ts';
import { type ApiClientTable, SHOP_COLUMNS } from '../db/schema.ts';
import { statement } from '../db/statements.ts';
import type { Base } from '../service/context.ts';
import { type Shop, shopFrom } from '../shops/plans.ts';

export interface ApiClient {
  id: string;
  shopId: string;
  name: string;
  webhookUrl: string | null;
  lastUsedAt: number | null;
  revokedAt: number | null;
  replacedBy: string | null;
  createdAt: number;
}

const VISIBLE = [
  'id',
  'shop_id as shopId',
  'name',
  'webhook_url as webhookUrl',
  'last_used_at as lastUsedAt',
  'revoked_at as revokedAt',
  'replaced_by as replacedBy',
  'created_at as createdAt',
] as const;

export const insertClient = (trx: Trx, client: Insertable<ApiClientTable>): Promise<ApiClient> =>
  trx.insertInto('api_clients').values(client).returning(VISIBLE).executeTakeFirstOrThrow();

export const updateClient = (trx: Trx, id: string, change: Updateable<ApiClientTable>): Promise<ApiClient> =>
  trx
    .updateTable('api_clients')
    .set(change)
    .where('id', '=', id)
    .returning(VISIBLE)
    .executeTakeFirstOrThrow();

/** Revokes a client in favour of another. Those that it had replaced itself point there too: whom to turn to is always one step. */
export const retireClient = async (
  trx: Trx,
  { shopId, id }: ApiClient,
  by: string,
  at: number,
): Promise<void> => {
  await trx
    .updateTable('api_clients')
    .set({ replaced_by: by, revoked_at: sql<number>`coalesce(revoked_at, ${at})` })
    .where('shop_id', '=', shopId)
    .where((eb) => eb.or([eb('id', '=', id), eb('replaced_by', '=', id)]))
    .execute();
};

const one = (db: Db, id: string) => db.selectFrom('api_clients').select(VISIBLE).where('id', '=', id);

export const findClient = async (db: Db, id: string): Promise<ApiClient | null> =>
  (await one(db, id).executeTakeFirst()) ?? null;

export const lockClient = async (trx: Trx, id: string): Promise<ApiClient | null> =>
  (await one(trx, id).forUpdate().executeTakeFirst()) ?? null;

export const listClients = (db: Db, shopId: string): Promise<ApiClient[]> =>
  db
    .selectFrom('api_clients')
    .select(VISIBLE)
    .where('shop_id', '=', shopId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();

interface KeyHolder {
  client: Pick<ApiClient, 'id' | 'name' | 'webhookUrl' | 'lastUsedAt'>;
  shop: Shop;
}

const activeByKeyHash = statement(({ db, oneOf }, { hashes }: { hashes: string[] }) =>
  db
    .selectFrom('api_clients as client')
    .innerJoin('shops as shop', 'shop.id', 'client.shop_id')
    .select(SHOP_COLUMNS.map((column) => `shop.${column}` as const))
    .select([
      'client.id as client_id',
      'client.key_hash',
      'client.name as client_name',
      'client.webhook_url',
      'client.last_used_at',
    ])
    .where(sql<boolean>`client.key_hash ${oneOf('text', hashes)}`)
    .where('client.revoked_at', 'is', null),
);

/** The active clients with these keys, and their shops. Read for every request, so that a revoked key fails at once. */
export const findByKeyHashes = async (
  { reads, fill }: Base,
  hashes: string[],
): Promise<(KeyHolder | null)[]> => {
  const { rows } = await reads.executeQuery(fill(activeByKeyHash, { hashes: [...new Set(hashes)] }));
  const holders = new Map<string, KeyHolder>(
    rows.map((row) => [
      row.key_hash,
      {
        shop: shopFrom(row),
        client: {
          id: row.client_id,
          name: row.client_name,
          webhookUrl: row.webhook_url,
          lastUsedAt: row.last_used_at,
        },
      },
    ]),
  );
  return hashes.map((hash) => holders.get(hash) ?? null);
};

/** Writes `last_used_at`. Skips rows that another process is writing right now. */
export const touchClients = async (
  { background, oneOf }: Base,
  ids: string[],
  nowMs: number,
  olderThanMs: number,
): Promise<void> => {
  await background
    .updateTable('api_clients')
    .set({ last_used_at: nowMs })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('api_clients')
        .select('id')
        .where(sql<boolean>`id ${oneOf('id', ids)}`)
        .where((older) =>
          older.or([older('last_used_at', 'is', null), older('last_used_at', '<', olderThanMs)]),
        )
        .forUpdate()
        .skipLocked(),
    )
    .execute();
};
