import type { ChangePassword, SignedIn, SignIn } from '../../contract/admin-people.ts';
import { recordAudit } from '../audit/store.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { ServiceError } from '../errors.ts';
import type { LockOut } from './lock-out.ts';
import { hashPassword, isPassword } from './passwords.ts';
import { endSessionsOf, findSession, openSession, type SignedInUser } from './sessions.ts';
import { findByEmail, findUser, keptEmail, replacePassword } from './store.ts';
import { aboutUser, PASSWORD_CHANGED } from './users.ts';

export const viewSignedIn = ({ shop }: Caller, { id, email, role }: SignedInUser): SignedIn => ({
  user: { id, email, role },
  shop: {
    id: shop.id,
    name: shop.name,
    plan: shop.plan,
    subscription: shop.active ? 'active' : 'inactive',
  },
});

/** The token is for the cookie and is nowhere else. */
interface NewSession {
  token: string;
  signedIn: SignedIn;
}

export const signIn = async (
  ctx: Context,
  lockOut: LockOut,
  address: string,
  { email, password }: SignIn,
): Promise<NewSession> => {
  const attempt = await lockOut.begin(keptEmail(email), address);
  const user = await findByEmail(ctx.db, email);
  const right = await isPassword(user?.password_hash ?? null, password);
  const token =
    user && right
      ? await ctx.db.transaction().execute((trx) => openSession(trx, user, ctx.clock.now()))
      : null;
  const session = token && (await findSession(ctx, token));
  if (!session) {
    await attempt.failed();
    throw new ServiceError('SIGN_IN_FAILED');
  }
  await attempt.succeeded();
  return { token, signedIn: viewSignedIn(session.caller, session.user) };
};

const WRONG_PASSWORD = {
  faults: [
    { field: 'currentPassword', rule: 'wrong', message: 'currentPassword is not your present password' },
  ],
};

/** Ends every session of the person and opens a new one for whoever changed the password. */
export const changeOwnPassword = async (
  ctx: Context,
  lockOut: LockOut,
  address: string,
  { caller, user }: { caller: Caller; user: SignedInUser },
  { currentPassword, newPassword }: ChangePassword,
): Promise<NewSession> => {
  const attempt = await lockOut.begin(user.email, address);
  const before = await findUser(ctx.db, user.id);
  const right = await isPassword(before?.password_hash ?? null, currentPassword);
  if (!before || !right) {
    await attempt.failed();
    throw new ServiceError('VALIDATION', WRONG_PASSWORD);
  }
  await attempt.succeeded();
  const nextHash = await hashPassword(newPassword);
  const at = ctx.clock.now();
  const token = await ctx.db.transaction().execute(async (trx) => {
    // Somebody else was faster, and the password that was checked is no longer the present one.
    if (!(await replacePassword(trx, before, nextHash))) return null;
    await endSessionsOf(trx, user.id);
    await recordAudit(trx, {
      ...aboutUser(before),
      at,
      actor: caller.actor,
      action: 'USER_CHANGED',
      data: PASSWORD_CHANGED,
    });
    return openSession(trx, { ...before, password_hash: nextHash }, at);
  });
  if (!token) throw new ServiceError('VALIDATION', WRONG_PASSWORD);
  return { token, signedIn: viewSignedIn(caller, user) };
};
