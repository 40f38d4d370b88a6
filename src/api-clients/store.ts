import type { InferResult, Insertable, Updateable } from 'kysely';
import type { ApiClientTable } from '../db/schema.ts';
import type { Db, Trx } from '../db/types.ts';

const CLIENT_COLUMNS = [
  'id',
  'shop_id as shopId',
  'name',
  'webhook_url as webhookUrl',
  'rights',
  'events',
  'expires_at as expiresAt',
  'last_used_at as lastUsedAt',
  'revoked_at as revokedAt',
  'receiver_id as receiverId',
  'replaced_by as replacedBy',
  'replaced_at as replacedAt',
  'created_at as createdAt',
] as const;

const clientsIn = (db: Db) => db.selectFrom('api_clients').select(CLIENT_COLUMNS);

/** `rights` and `events` are separated by commas, as in their columns. */
export type ApiClient = InferResult<ReturnType<typeof clientsIn>>[number];

export const isInUse = ({ revokedAt, replacedBy }: ApiClient): boolean =>
  revokedAt === null && replacedBy === null;

export const insertClient = (trx: Trx, client: Insertable<ApiClientTable>): Promise<ApiClient> =>
  trx.insertInto('api_clients').values(client).returning(CLIENT_COLUMNS).executeTakeFirstOrThrow();

export const updateClient = (trx: Trx, id: string, change: Updateable<ApiClientTable>): Promise<ApiClient> =>
  trx
    .updateTable('api_clients')
    .set(change)
    .where('id', '=', id)
    .returning(CLIENT_COLUMNS)
    .executeTakeFirstOrThrow();

export const findClient = async (db: Db, id: string): Promise<ApiClient | null> =>
  (await clientsIn(db).where('id', '=', id).executeTakeFirst()) ?? null;

export const lockClient = async (trx: Trx, id: string): Promise<ApiClient | null> =>
  (await clientsIn(trx).where('id', '=', id).forUpdate().executeTakeFirst()) ?? null;

export const listClients = (db: Db, shopId: string): Promise<ApiClient[]> =>
  clientsIn(db).where('shop_id', '=', shopId).orderBy('created_at').orderBy('id').execute();

/** Keys of clients in use that have expired, or expire before this time. The earliest comes first. */
export const expiringKeys = (db: Db, untilMs: number) =>
  db
    .selectFrom('api_clients as client')
    .innerJoin('shops as shop', 'shop.id', 'client.shop_id')
    .select(['client.id', 'client.name', 'shop.name as shop', 'client.expires_at'])
    .where('client.revoked_at', 'is', null)
    .where('client.replaced_by', 'is', null)
    .where('client.expires_at', '<=', untilMs)
    .orderBy('client.expires_at')
    .execute();
