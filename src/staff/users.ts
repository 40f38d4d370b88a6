import type { Updateable } from 'kysely';
import type { AuditAction, ChangeUser, User, UserQuery, UserRole } from '../../contract/admin-people.ts';
import { type Actor, isId, listEnvelope } from '../../contract/common.ts';
import { type AuditActor, type AuditRecord, changesBetween, recordAudit } from '../audit/store.ts';
import type { Db, Trx } from '../db/database.ts';
import { isDuplicate } from '../db/database-errors.ts';
import { type Row, USER_COLUMNS, type UserTable } from '../db/schema.ts';
import { newId } from '../lib/ids.ts';
import { toIso } from '../lib/time.ts';
import { displayName, queueUnassignment, readTeam, unassignRemovedUsers } from '../returns/people.ts';
import type { Context } from '../service/context.ts';
import { ServiceError } from '../service/errors.ts';
import { describeError } from '../service/log.ts';
import { sha256 } from '../service/secrets.ts';
import type { Caller } from '../shops/plans.ts';
import type { AccountChange } from './account-mails.ts';
import { hashPassword } from './passwords.ts';

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

export const endSessionsOf = async (db: Db, userId: string, exceptToken?: string): Promise<void> => {
  let sessions = db.deleteFrom('sessions').where('user_id', '=', userId);
  if (exceptToken !== undefined) sessions = sessions.where('token_hash', '<>', sha256(exceptToken));
  await sessions.execute();
};

const refuseTakenEmail = (error: unknown): never => {
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
  const added = { ...user, passwordHash };
  return viewUser(await ctx.db.transaction().execute((trx) => addUser(trx, actor, ctx.clock.now(), added)));
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
    .executeTakeFirstOrThrow()
    .catch(refuseTakenEmail);
  await recordAudit(trx, { ...aboutUser(user), at, actor, action: 'USER_CREATED', data: { role } });
  return user;
};

/** Commits a change of an account, then mails the person what changed. */
export const changeAccount = async <Change extends AccountChange>(
  ctx: Context,
  shop: { id: string; name: string },
  work: (trx: Trx) => Promise<Change>,
): Promise<Change> => {
  const change = await ctx.db.transaction().execute(work);
  await ctx.mailAccountChanges(shop, change);
  return change;
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
  const after = await updateUser(trx, before.id, { ...change, ...exposure }).catch(refuseTakenEmail);
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
  const password_hash = password === null ? undefined : await hashPassword(password);
  const { after } = await changeAccount(ctx, shop, async (trx) => {
    const { user: before, isLastAdmin } = await lockUser(trx, shop.id, id);
    if (isLastAdmin && role === 'STAFF') throw new ServiceError('LAST_ADMIN');
    const change = {
      email: email === null ? before.email : normalizeEmail(email),
      name: name === null ? before.name : name || null,
      role: role ?? before.role,
      password_hash,
    };
    return { before, after: await updateAccount(ctx, trx, before, change, { actor }) };
  });
  return viewUser(after);
};

/** So many steps are done before the answer; the janitor does the others. */
const UNASSIGNED_AT_ONCE = 20;

export const removeUser = async (ctx: Context, { shop, actor }: Caller, id: string): Promise<void> => {
  await changeAccount(ctx, shop, async (trx) => {
    const { user, isLastAdmin } = await lockUser(trx, shop.id, id);
    if (isLastAdmin) throw new ServiceError('LAST_ADMIN');
    await trx.deleteFrom('users').where('id', '=', id).execute();
    await queueUnassignment(trx, user, ctx.clock.now());
    await auditUser(ctx, trx, user, actor, 'USER_REMOVED', { role: user.role });
    return { before: user, after: null };
  });
  try {
    for (let step = 0; step < UNASSIGNED_AT_ONCE; step++)
      if (!(await unassignRemovedUsers(ctx, ctx.clock.now()))) return;
  } catch (error) {
    // They are removed, whatever happens now.
    ctx.log.warn(
      { error: describeError(error) },
      'returns of a removed person stay assigned for now; it will be tried again',
    );
  }
};
