import type { ChangePassword, SignedIn, SignIn } from '../../contract/admin-people.ts';
import { recordAudit } from '../audit/store.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Row } from '../db/schema.ts';
import { ServiceError } from '../errors.ts';
import { instant } from '../instant.ts';
import { endLinksOf } from './links.ts';
import { prove, type Self, wrong } from './own-account.ts';
import { hashPassword, isPassword, passwordTurns } from './passwords.ts';
import { passFactor } from './second-factor.ts';
import { endSessionsOf, findSession, openSession, type SignedInUser, type UsedFrom } from './sessions.ts';
import {
  attemptSignIn,
  countingCodes,
  type Origin,
  recordSignIn,
  refuseLocked,
  type SignInAttempt,
} from './sign-in-attempt.ts';
import { findByEmail, keptEmail, replacePassword } from './store.ts';
import { aboutUser, PASSWORD_CHANGED } from './user-view.ts';

export const viewSignedIn = (
  { shop }: Caller,
  { id, email, name, role, hasFactor, passwordExposedAt }: SignedInUser,
): SignedIn => ({
  user: {
    id,
    email,
    name,
    role,
    secondFactor: hasFactor,
    passwordExposedAt: passwordExposedAt === null ? null : instant(passwordExposedAt),
  },
  shop: {
    id: shop.id,
    name: shop.name,
    plan: shop.plan,
    subscription: shop.active ? 'active' : 'inactive',
    secondFactorRequired: shop.secondFactorRequired,
  },
});

/** The token goes into the cookie and nowhere else. */
export interface NewSession {
  token: string;
  signedIn: SignedIn;
}

export const signIn = (
  ctx: Context,
  origin: Origin,
  { email: given, password, code }: SignIn,
): Promise<NewSession> => {
  const email = keptEmail(given);
  return attemptSignIn(ctx, origin, email, (begin) =>
    passwordTurns.run(async () => {
      const user = await findByEmail(ctx.db, email);
      const attempt = await begin(user);
      await refuseLocked(ctx, attempt);
      const right = await isPassword(user?.password_hash ?? null, password);
      const token =
        user && right
          ? await countingCodes(ctx, attempt, code, () => openSessionFrom(ctx, user, attempt, code))
          : null;
      return finishSignIn(ctx, token);
    }),
  );
};

/** The session behind a new token. */
export const finishSignIn = async (ctx: Context, token: string | null): Promise<NewSession> => {
  const session = token && (await findSession(ctx, token));
  if (!session) throw new ServiceError('SIGN_IN_FAILED');
  return { token, signedIn: viewSignedIn(session.caller, session.user) };
};

/** A code that is missing or wrong throws, and undoes the rest. */
const openSessionFrom = (
  ctx: Context,
  user: Row<'users'>,
  attempt: SignInAttempt,
  code: string | null,
): Promise<string | null> =>
  ctx.db.transaction().execute(async (trx) => {
    const token = await openSession(trx, user, attempt, ctx.clock.now());
    if (!token) return null;
    await passFactor(ctx, trx, user.id, code);
    await recordSignIn(ctx, trx, user, attempt);
    return token;
  });

/** Ends all sessions of the person and opens a new one here. */
export const changeOwnPassword = async (
  ctx: Context,
  self: Self,
  from: UsedFrom,
  { currentPassword, code, newPassword }: ChangePassword,
): Promise<NewSession> => {
  const { caller, user } = self;
  const before = await prove(ctx, self, { password: currentPassword, code }, 'currentPassword');
  const nextHash = await hashPassword(newPassword);
  const at = ctx.clock.now();
  const after = { ...before, password_hash: nextHash };
  const token = await ctx.db.transaction().execute(async (trx) => {
    // The password changed after the proof: another request was faster.
    if (!(await replacePassword(trx, before, nextHash))) return null;
    await endSessionsOf(trx, user.id);
    await endLinksOf(trx, user.id);
    await recordAudit(trx, {
      ...aboutUser(before),
      at,
      actor: caller.actor,
      action: 'USER_CHANGED',
      data: PASSWORD_CHANGED,
    });
    return openSession(trx, after, from, at);
  });
  if (!token) throw wrong('currentPassword', 'is not your current password');
  await ctx.mailAccountChanges(caller.shop, before, after);
  return { token, signedIn: viewSignedIn(caller, { ...user, passwordExposedAt: null }) };
};
