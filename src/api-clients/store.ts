import type { Insertable, Updateable } from 'kysely';
import type { Db, Trx } from '../db/database.ts';
import type { ApiClientTable } from '../db/schema.ts';

export interface ApiClient {
  id: string;
  shopId: string;
  name: string;
  webhookUrl: string | null;
  /** As the columns have them: separated by commas. */
  rights: string;
  events: string | null;
  expiresAt: number | null;
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
  'rights',
  'events',
  'expires_at as expiresAt',
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

/** Ends a client in favour of another. Those that it had replaced itself point there too: whom to turn to is always one step. */
export const retireClient = async (
  trx: Trx,
  old: ApiClient,
  by: string,
  end: Pick<Updateable<ApiClientTable>, 'revoked_at' | 'expires_at'>,
): Promise<void> => {
  const own = trx.updateTable('api_clients').where('shop_id', '=', old.shopId);
  await own.set({ replaced_by: by }).where('replaced_by', '=', old.id).execute();
  await own
    .set({ replaced_by: by, ...end })
    .where('id', '=', old.id)
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
