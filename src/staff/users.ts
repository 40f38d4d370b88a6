import type { Updateable } from 'kysely';
import type { AuditAction, ChangeUser, User, UserQuery, UserRole } from '../../contract/admin-people.ts';
import { type Actor, listEnvelope } from '../../contract/common.ts';
import { type AuditActor, changesBetween, recordAudit } from '../audit/store.ts';
import type { Trx } from '../db/database.ts';
import { isDuplicate } from '../db/database-errors.ts';
import { USER_COLUMNS, type UserTable } from '../db/schema.ts';
import { newId } from '../lib/ids.ts';
import { displayName, queueUnassignment, readTeam, unassignRemovedUsers } from '../returns/people.ts';
import type { Context } from '../service/context.ts';
import { ServiceError } from '../service/errors.ts';
import { describeError } from '../service/log.ts';
import type { Caller } from '../shops/plans.ts';
import { hashPassword } from './passwords.ts';
import { endSessionsOf } from './sessions.ts';
import {
  aboutUser,
  auditUser,
  endLinksOf,
  lockUser,
  normalizeEmail,
  type UserRow,
  updateUser,
  viewUser,
} from './store.ts';

export const refuseTakenEmail = (error: unknown): never => {
  throw isDuplicate(error) ? new ServiceError('EMAIL_TAKEN') : error;
};

export const listUsers = async (ctx: Context, { shop }: Caller, query: UserQuery) => {
  const own = ctx.db.selectFrom('users').where('shop_id', '=', shop.id);
  const [rows, { total }] = await Promise.all([
    own
      .select(USER_COLUMNS)
      .orderBy('id', 'desc')
      .limit(query.limit)
      .offset((query.page - 1) * query.limit)
      .execute(),
    own.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return listEnvelope(rows.map(viewUser), total, query);
};

export const listPeople = async (ctx: Context, { shop }: Caller) => ({
  items: (await readTeam(ctx, shop.id)).map((person) => ({ ...person, name: displayName(person) })),
});

interface NewUser {
  shopId: string;
  email: string;
  name?: string | null;
  role: UserRole;
}

export const createUser = async (
  ctx: Context,
  actor: Actor,
  { password, ...user }: NewUser & { password: string },
): Promise<User> => {
  const passwordHash = await hashPassword(password);
  const created = await ctx.db
    .transaction()
    .execute((trx) => addUser(trx, actor, ctx.clock.now(), { ...user, passwordHash }))
    .catch(refuseTakenEmail);
  return viewUser(created);
};

/** The same inside a transaction, for callers that write more together with the user. Hash before: it takes too long here. */
export const addUser = async (
  trx: Trx,
  actor: Actor,
  at: number,
  { shopId, email, name = null, role, passwordHash }: NewUser & { passwordHash: string },
): Promise<UserRow> => {
  const user = await trx
    .insertInto('users')
    .values({
      id: newId(at),
      shop_id: shopId,
      email: normalizeEmail(email),
      name,
      role,
      password_hash: passwordHash,
      created_at: at,
    })
    .returning(USER_COLUMNS)
    .executeTakeFirstOrThrow();
  await recordAudit(trx, { ...aboutUser(user), at, actor, action: 'USER_CREATED', data: { role } });
  return user;
};

/** Writes and audits a change of a locked user. A new password ends their sessions and links, a new e-mail their links. */
export const updateAccount = async (
  ctx: Context,
  trx: Trx,
  before: UserRow,
  change: Pick<Updateable<UserTable>, 'email' | 'name' | 'role' | 'password_hash'>,
  { actor, action = 'USER_CHANGED' }: { actor: AuditActor; action?: AuditAction },
): Promise<UserRow> => {
  const hasNewPassword = change.password_hash !== undefined;
  const exposure = hasNewPassword ? { password_exposed_at: null } : {};
  const after = await updateUser(trx, before.id, { ...change, ...exposure });
  if (hasNewPassword) await endSessionsOf(trx, after.id);
  if (hasNewPassword || after.email !== before.email) await endLinksOf(trx, after.id);
  const changes = changesBetween(before, after, ['email', 'name', 'role']);
  const data = { ...changes, ...(hasNewPassword ? { passwordChanged: true } : {}) };
  if (changes || hasNewPassword) await auditUser(ctx, trx, after, actor, action, data);
  return after;
};

/** A new role applies from the person's next request on. */
export const changeUser = async (ctx: Context, { shop, actor }: Caller, id: string, given: ChangeUser) => {
  const { email, name, role, password } = given;
  // A stranger at an Admin's open session must not take the account over.
  if (actor.id === id && (email !== null || password !== null)) throw new ServiceError('OWN_ACCOUNT');
  const passwordHash = password === null ? null : await hashPassword(password);
  const { before, after } = await ctx.db
    .transaction()
    .execute(async (trx) => {
      const { user: before, isLastAdmin } = await lockUser(trx, shop.id, id);
      if (isLastAdmin && role === 'STAFF') throw new ServiceError('LAST_ADMIN');
      const change = {
        email: email === null ? before.email : normalizeEmail(email),
        name: name === null ? before.name : name || null,
        role: role ?? before.role,
        ...(passwordHash ? { password_hash: passwordHash } : {}),
      };
      return { before, after: await updateAccount(ctx, trx, before, change, { actor }) };
    })
    .catch(refuseTakenEmail);
  await ctx.mailAccountChanges(shop, before, after);
  return viewUser(after);
};

/** So many steps are done before the answer; the janitor does the others. */
const UNASSIGNED_AT_ONCE = 20;

export const removeUser = async (ctx: Context, { shop, actor }: Caller, id: string): Promise<void> => {
  const removed = await ctx.db.transaction().execute(async (trx) => {
    const { user, isLastAdmin } = await lockUser(trx, shop.id, id);
    if (isLastAdmin) throw new ServiceError('LAST_ADMIN');
    await trx.deleteFrom('users').where('id', '=', id).execute();
    await queueUnassignment(trx, user, ctx.clock.now());
    await auditUser(ctx, trx, user, actor, 'USER_REMOVED', { role: user.role });
    return user;
  });
  await ctx.mailAccountChanges(shop, removed, null);
  // They are removed, whatever happens now.
  await unassignSome(ctx).catch((error) =>
    ctx.log.warn(
      { error: describeError(error) },
      'returns of a removed person stay assigned for now; it will be tried again',
    ),
  );
};

const unassignSome = async (ctx: Context): Promise<void> => {
  for (let step = 0; step < UNASSIGNED_AT_ONCE; step++)
    if (!(await unassignRemovedUsers(ctx, ctx.clock.now()))) return;
};
