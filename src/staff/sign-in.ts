import type { ChangePassword, SignedIn, SignIn } from '../../contract/admin-people.ts';
import { recordAudit } from '../audit/store.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Row } from '../db/tables.ts';
import { ServiceError } from '../errors.ts';
import { instant } from '../instant.ts';
import { endLinksOf } from './links.ts';
import { hashPassword, isPassword, passwordTurns } from './passwords.ts';
import { passFactor } from './second-factor.ts';
import {
  countPasswordGuess,
  endSession,
  endSessionsOf,
  findSession,
  openSession,
  type SignedInUser,
} from './sessions.ts';
import {
  attemptSignIn,
  countingCodes,
  type Origin,
  recordSignIn,
  refuseLocked,
  type SignInAttempt,
} from './sign-in-attempt.ts';
import { findByEmail, findUser, keptEmail, replacePassword } from './store.ts';
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
    const token = await openSession(trx, user, ctx.clock.now());
    if (!token) return null;
    await passFactor(ctx, trx, user.id, code);
    await recordSignIn(ctx, trx, user, attempt);
    return token;
  });

const WRONG_PASSWORD = {
  faults: [
    { field: 'currentPassword', rule: 'wrong', message: 'currentPassword is not your current password' },
  ],
};

/** Ends all sessions of the person and opens a new one here. */
export const changeOwnPassword = async (
  ctx: Context,
  sessionToken: string | undefined,
  { caller, user }: { caller: Caller; user: SignedInUser },
  { currentPassword, newPassword }: ChangePassword,
): Promise<NewSession> => {
  const guess = await countPasswordGuess(ctx.db, sessionToken);
  if (!guess) throw new ServiceError('SIGNED_OUT');
  const before = await findUser(ctx.db, user.id);
  const right = await passwordTurns.run(() => isPassword(before?.password_hash ?? null, currentPassword));
  if (!before || !right) {
    if (guess.wasLast) await endSession(ctx.db, sessionToken);
    throw new ServiceError('VALIDATION', WRONG_PASSWORD);
  }
  const nextHash = await hashPassword(newPassword);
  const at = ctx.clock.now();
  const token = await ctx.db.transaction().execute(async (trx) => {
    // The password changed after it was checked: somebody else was faster.
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
    return openSession(trx, { ...before, password_hash: nextHash }, at);
  });
  if (!token) throw new ServiceError('VALIDATION', WRONG_PASSWORD);
  return { token, signedIn: viewSignedIn(caller, { ...user, passwordExposedAt: null }) };
};
