import type { Updateable } from 'kysely';
import type { AuditAction, User } from '../../contract/admin-people.ts';
import { type Actor, isId } from '../../contract/common.ts';
import { type AuditActor, type AuditRecord, recordAudit } from '../audit/store.ts';
import type { Db, Trx } from '../db/database.ts';
import { type Row, USER_COLUMNS, type UserTable } from '../db/schema.ts';
import { toIso } from '../lib/time.ts';
import type { Context } from '../service/context.ts';
import { ServiceError } from '../service/errors.ts';

export type UserRow = Row<'users'>;

export const viewUser = (user: UserRow): User => ({
  id: user.id,
  email: user.email,
  name: user.name,
  role: user.role,
  createdAt: toIso(user.created_at),
  lastSignInAt: user.last_sign_in_at === null ? null : toIso(user.last_sign_in_at),
  secondFactor: user.factor_since !== null,
});

export const aboutUser = (user: UserRow) => ({
  shopId: user.shop_id,
  subject: { type: 'USER', id: user.id, name: user.email } as const,
});

export const auditUser = (
  { clock }: Context,
  trx: Trx,
  user: UserRow,
  actor: AuditActor,
  action: AuditAction,
  data: AuditRecord['data'] = {},
): Promise<void> => recordAudit(trx, { ...aboutUser(user), at: clock.now(), actor, action, data });

export const actorOf = ({ id, name, email }: Pick<UserRow, 'id' | 'name' | 'email'>): Actor => ({
  type: 'USER',
  id,
  name: name ?? email,
});

/** People sign in with their e-mail alone, so it is unique over all shops, in lower case. */
export const normalizeEmail = (email: string): string => email.toLowerCase();

export const findByEmail = (db: Db, email: string): Promise<UserRow | undefined> =>
  db.selectFrom('users').select(USER_COLUMNS).where('email', '=', normalizeEmail(email)).executeTakeFirst();

export const findUser = (db: Db, id: string): Promise<UserRow | undefined> =>
  db.selectFrom('users').select(USER_COLUMNS).where('id', '=', id).executeTakeFirst();

export const lockOne = (trx: Trx, id: string): Promise<UserRow | undefined> =>
  trx.selectFrom('users').select(USER_COLUMNS).where('id', '=', id).forUpdate().executeTakeFirst();

export const lockSelf = async (trx: Trx, id: string): Promise<UserRow> => {
  const user = await lockOne(trx, id);
  if (!user) throw new ServiceError('SIGNED_OUT');
  return user;
};

/** Locks the user and all Admins of the shop, in one order: when two demote each other at once, the second sees the first's change. */
export const lockUser = async (trx: Trx, shopId: string, id: string) => {
  if (!isId(id)) throw new ServiceError('USER_NOT_FOUND');
  const rows = await trx
    .selectFrom('users')
    .select(USER_COLUMNS)
    .where('shop_id', '=', shopId)
    .where((eb) => eb.or([eb('id', '=', id), eb('role', '=', 'ADMIN')]))
    .orderBy('id')
    .forUpdate()
    .execute();
  const user = rows.find((row) => row.id === id);
  if (!user) throw new ServiceError('USER_NOT_FOUND');
  const admins = rows.filter(({ role }) => role === 'ADMIN');
  return { user, isLastAdmin: user.role === 'ADMIN' && admins.length === 1 };
};

export const updateUser = (db: Db, id: string, change: Updateable<UserTable>): Promise<UserRow> =>
  db.updateTable('users').set(change).where('id', '=', id).returning(USER_COLUMNS).executeTakeFirstOrThrow();

export const endLinksOf = async (trx: Trx, userId: string): Promise<void> => {
  await trx.deleteFrom('access_links').where('user_id', '=', userId).execute();
};
