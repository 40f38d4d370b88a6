import type { Updateable } from 'kysely';
import type { AuditAction, ChangeUser, CreateUser, User, UserQuery } from '../../contract/admin-people.ts';
import { type Actor, isId, listEnvelope } from '../../contract/common.ts';
import { type AuditActor, type AuditRecord, changesBetween, recordAudit } from '../audit/store.ts';
import { isDuplicate } from '../db/database-errors.ts';
import { USER_COLUMNS, type UserTable } from '../db/schema.ts';
import type { Db, Trx } from '../db/types.ts';
import { newId } from '../lib/ids.ts';
import { toIso } from '../lib/time.ts';
import type { Core } from '../platform/core.ts';
import { ServiceError } from '../platform/errors.ts';
import { warning } from '../platform/log.ts';
import { sha256 } from '../platform/secrets.ts';
import { displayName, readTeam, unassignRemovedUsers } from '../returns/assignees.ts';
import type { Caller } from '../shops/plans.ts';
import { type AccountChange, mailChanges } from './account-mails.ts';
import { hashNewPassword, hasPassword } from './passwords.ts';
import type { StaffServices, UserRow } from './types.ts';

export const viewUser = (user: UserRow): User => ({
  id: user.id,
  email: user.email,
  name: user.name,
  role: user.role,
  createdAt: toIso(user.created_at),
  lastSignInAt: user.last_sign_in_at === null ? null : toIso(user.last_sign_in_at),
  secondFactor: user.factor_since !== null,
  providerOnly: isProviderOnly(user),
  emailConfirmed: user.email_unconfirmed === 0,
});

/** They sign in through the identity provider, and no Admin has given them a password since. */
export const isProviderOnly = ({
  provider_subject,
  password_hash,
}: Pick<UserRow, 'provider_subject' | 'password_hash'>): boolean =>
  provider_subject !== null && !hasPassword(password_hash);

/** A password would outlive the person's account at the provider, so an Admin must want that. */
export const refuseProviderOnly = (user: UserRow, besideProvider: boolean): void => {
  if (!besideProvider && isProviderOnly(user)) throw new ServiceError('PROVIDER_ONLY');
};

/** Records an entry about a user. With the id of an earlier entry, it replaces the data of that one. */
export const auditUser = (
  { clock }: Core,
  trx: Trx,
  user: UserRow,
  actor: AuditActor,
  action: AuditAction,
  data: AuditRecord['data'] = {},
  id?: string,
): Promise<void> => {
  const subject = { type: 'USER', id: user.id, name: user.email } as const;
  return recordAudit(trx, { shopId: user.shop_id, subject, at: clock.now(), actor, action, data }, id);
};

export const actorOf = ({ id, name, email }: Pick<UserRow, 'id' | 'name' | 'email'>): Actor => ({
  type: 'USER',
  id,
  name: name ?? email,
});

/**
 * Returns the form in which emails of people are stored and compared. It is unique across shops, since it identifies the person who signs in.
 * It is the lower case, except of U+212A (the Kelvin sign), the one character beyond ASCII whose lower case is an ASCII letter: an
 * identity provider may know `mar\u212A@example.com` as another person than `mark@example.com`.
 */
export const normalizeEmail = (email: string): string =>
  email.replaceAll(/[^\u212a]+/g, (part) => part.toLowerCase());

export const usersIn = (db: Db) => db.selectFrom('users').select(USER_COLUMNS);

export const findByEmail = (db: Db, email: string): Promise<UserRow | undefined> =>
  usersIn(db).where('email', '=', normalizeEmail(email)).executeTakeFirst();

export const findUser = (db: Db, id: string): Promise<UserRow | undefined> =>
  usersIn(db).where('id', '=', id).executeTakeFirst();

export const lockOne = (trx: Trx, id: string): Promise<UserRow | undefined> =>
  usersIn(trx).where('id', '=', id).forUpdate().executeTakeFirst();

export const lockSelf = async (trx: Trx, id: string): Promise<UserRow> => {
  const user = await lockOne(trx, id);
  if (!user) throw new ServiceError('SIGNED_OUT');
  return user;
};

/** Locks the user and all Admins of the shop, in one order: when two demote each other at once, the second sees the first's change. */
export const lockUser = async (trx: Trx, shopId: string, id: string) => {
  if (!isId(id)) throw new ServiceError('USER_NOT_FOUND');
  const rows = await usersIn(trx)
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

export const endSessionsOf = async (db: Db, userId: string, exceptToken = ''): Promise<void> => {
  const own = db.deleteFrom('sessions').where('user_id', '=', userId);
  await own.where('token_hash', '<>', sha256(exceptToken)).execute();
};

/** The log shows who tries emails of other shops, without the emails. */
const refuseTakenEmail =
  ({ log }: Core, shopId: string, { id }: AuditActor) =>
  (error: unknown): never => {
    if (!isDuplicate(error)) throw error;
    log.warn({ shopId, actorId: id }, 'an email that is in use was refused');
    throw new ServiceError('EMAIL_TAKEN');
  };

export const listUsers = async (ctx: Core, { shop }: Caller, query: UserQuery) => {
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

export const listPeople = async (ctx: Core, { shop }: Caller) => ({
  items: (await readTeam(ctx, shop.id)).map((person) => ({ ...person, name: displayName(person) })),
});

type NewUser = Omit<CreateUser, 'password'> & { shopId: string; passwordHash: string };

/** The password must be hashed before the transaction, since that takes too long inside one. */
export const addUser = async (
  ctx: Core,
  trx: Trx,
  actor: AuditActor,
  { shopId, email, name, role, passwordHash }: NewUser,
): Promise<UserRow> => {
  const at = ctx.clock.now();
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
    .catch(refuseTakenEmail(ctx, shopId, actor));
  await auditUser(ctx, trx, user, actor, 'USER_CREATED', { role });
  return user;
};

/** Commits a change of an account, then mails the person what changed. If the mail fails, the change stays. */
export const changeAccount = async <Change extends AccountChange>(
  ctx: StaffServices,
  work: (trx: Trx) => Promise<Change>,
): Promise<Change> => {
  const change = await ctx.db.transaction().execute(work);
  await mailChanges(ctx, change).catch(warning(ctx.log, 'a mail about an account could not be sent'));
  return change;
};

/** Writes and audits a change of a locked user. A new password ends their sessions and links, a new email their links. */
export const updateAccount = async (
  ctx: Core,
  trx: Trx,
  before: UserRow,
  change: Pick<Updateable<UserTable>, 'email' | 'email_unconfirmed' | 'name' | 'role' | 'password_hash'>,
  { actor, action = 'USER_CHANGED' }: { actor: AuditActor; action?: AuditAction },
): Promise<UserRow> => {
  const hasNewPassword = change.password_hash !== undefined;
  const exposure = hasNewPassword ? { password_exposed_at: null } : {};
  const after = await updateUser(trx, before.id, { ...change, ...exposure }).catch(
    refuseTakenEmail(ctx, before.shop_id, actor),
  );
  if (hasNewPassword) await endSessionsOf(trx, after.id);
  if (hasNewPassword || after.email !== before.email) await endLinksOf(trx, after.id);
  const changes = changesBetween(before, after, ['email', 'name', 'role']);
  const isConfirmed = !changes?.['email'] && before.email_unconfirmed > after.email_unconfirmed;
  const data = {
    ...changes,
    ...(hasNewPassword ? { passwordChanged: true } : {}),
    ...(isConfirmed ? { emailConfirmed: true } : {}),
  };
  if (Object.keys(data).length > 0) await auditUser(ctx, trx, after, actor, action, data);
  return after;
};

/** A new role applies from the person's next request on. */
export const changeUser = async (ctx: StaffServices, caller: Caller, id: string, given: ChangeUser) => {
  const { shop, actor } = caller;
  const { email, name, role, password, besideProvider } = given;
  // A stranger at an Admin's open session must not be able to take over the account.
  if (actor.id === id && (email !== null || password !== null)) throw new ServiceError('OWN_ACCOUNT');
  if (password !== null && !ctx.config.passwordSignIn) throw new ServiceError('PASSWORD_SIGN_IN_OFF');
  if (email !== null || role !== null || password !== null) await ctx.mailLimits.accountChange(caller);
  const found = await findUser(ctx.db, id);
  const presentEmail = found?.shop_id === shop.id ? found.email : '';
  if (email !== null && normalizeEmail(email) !== presentEmail) await ctx.mailLimits.newEmail(caller);
  const about = { shopName: shop.name, email: email ?? presentEmail };
  const password_hash = password === null ? undefined : await hashNewPassword('password', password, about);
  const { after } = await changeAccount(ctx, async (trx) => {
    const { user: before, isLastAdmin } = await lockUser(trx, shop.id, id);
    if (isLastAdmin && role === 'STAFF') throw new ServiceError('LAST_ADMIN');
    if (password !== null) refuseProviderOnly(before, besideProvider);
    const change = {
      email: email === null ? before.email : normalizeEmail(email),
      // An Admin who enters an email vouches for it, even if it is the current one.
      email_unconfirmed: email === null ? before.email_unconfirmed : 0,
      name: name === null ? before.name : name || null,
      role: role ?? before.role,
      password_hash,
    };
    return { before, after: await updateAccount(ctx, trx, before, change, { actor }) };
  });
  return viewUser(after);
};

/** The response waits for this many steps; the janitor does the others. */
const UNASSIGNED_AT_ONCE = 20;

export const removeUser = async (ctx: StaffServices, { shop, actor }: Caller, id: string): Promise<void> => {
  await changeAccount(ctx, async (trx) => {
    const { user, isLastAdmin } = await lockUser(trx, shop.id, id);
    if (isLastAdmin) throw new ServiceError('LAST_ADMIN');
    await trx.deleteFrom('users').where('id', '=', id).execute();
    // Their returns become unassigned, a bounded number at a time.
    const removed = { user_id: user.id, shop_id: user.shop_id, removed_at: ctx.clock.now() };
    await trx.insertInto('removed_users').values(removed).execute();
    await auditUser(ctx, trx, user, actor, 'USER_REMOVED', { role: user.role });
    return { before: user, after: null };
  });
  const unassign = async (): Promise<void> => {
    for (let step = 0; step < UNASSIGNED_AT_ONCE; step++)
      if (!(await unassignRemovedUsers(ctx, ctx.clock.now()))) return;
  };
  // The user is removed already, so a failure here must not fail the request.
  await unassign().catch(
    warning(ctx.log, 'returns of a removed user are still assigned; the janitor will try again'),
  );
};
