import type { LinkTarget, UseLink } from '../../contract/admin-access.ts';
import type { SignedIn, SignIn } from '../../contract/admin-people.ts';
import type { Context } from '../service/context.ts';
import { ServiceError } from '../service/errors.ts';
import type { Caller } from '../shops/plans.ts';
import { ownerOf, spendLink } from './links.ts';
import { hashPassword, isPassword, passwordTurns } from './passwords.ts';
import { passFactor } from './second-factor.ts';
import { findSession, openSession, type SignedInUser } from './sessions.ts';
import {
  attemptSignIn,
  clearFailures,
  countCode,
  recordSignIn,
  refuseLocked,
  type SignInAttempt,
  type SignInOrigin,
  uncountCode,
} from './sign-in-attempt.ts';
import { actorOf, lockOne, normalizeEmail } from './store.ts';
import { updateAccount } from './users.ts';

export const viewSignedIn = ({ shop }: Caller, user: SignedInUser): SignedIn => ({
  user,
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

export const signIn = (ctx: Context, origin: SignInOrigin, given: SignIn): Promise<NewSession> =>
  attemptSignIn(ctx, origin, normalizeEmail(given.email), (attempt) =>
    // Two at once, to the end: a hundred guesses from as many addresses cannot all pass the lock before one is counted.
    passwordTurns.run(() => signInWith(ctx, attempt, given)),
  );

/** Check the lock, verify the password, count the code, open a session. `attemptSignIn` records a refusal. */
const signInWith = async (ctx: Context, attempt: SignInAttempt, { password, code }: SignIn) => {
  const { user } = attempt;
  await refuseLocked(ctx, attempt);
  const isRight = await isPassword(user?.password_hash ?? null, password);
  if (!user || !isRight) throw new ServiceError('SIGN_IN_FAILED');
  await countCode(ctx, attempt, code);
  const token = await ctx.db.transaction().execute(async (trx) => {
    const token = await openSession(trx, user, attempt, ctx.clock.now());
    if (!token) return null;
    // A code that is missing or wrong throws, and undoes the rest.
    await passFactor(ctx, trx, user.id, code);
    await recordSignIn(ctx, trx, user, attempt);
    return token;
  });
  await uncountCode(ctx, attempt);
  return finishSignIn(ctx, token);
};

const finishSignIn = async (ctx: Context, token: string | null): Promise<NewSession> => {
  const session = token && (await findSession(ctx, token));
  if (!session) throw new ServiceError('SIGN_IN_FAILED');
  return { token, signedIn: viewSignedIn(session.caller, session.user) };
};

export const viewLinkTarget = async (ctx: Context, token: string): Promise<LinkTarget> => {
  const { user, shopName } = await ownerOf(ctx, token);
  return {
    shop: { name: shopName },
    user: { email: user.email, name: user.name },
    secondFactor: user.factor_since !== null,
  };
};

/** Sets the password and signs in. A second factor is asked for too: a mailbox alone is not enough. A wrong code leaves the link valid. */
export const choosePassword = async (ctx: Context, origin: SignInOrigin, given: UseLink) => {
  const { token: linkToken, password, code } = given;
  const { user, shopName } = await ownerOf(ctx, linkToken);
  return attemptSignIn(ctx, origin, user.email, async (attempt) => {
    if (user.factor_since !== null && code === null)
      throw new ServiceError('SECOND_FACTOR_REQUIRED', {
        message: 'A code of your second factor is needed as well.',
      });
    const password_hash = await hashPassword(password);
    await countCode(ctx, attempt, code);
    const { before, after, token } = await ctx.db.transaction().execute(async (trx) => {
      const before = await lockOne(trx, user.id);
      if (!before || !(await spendLink(trx, user.id, linkToken, ctx.clock.now())))
        throw new ServiceError('LINK_EXPIRED');
      await passFactor(ctx, trx, user.id, code);
      const actor = { ...actorOf(before), address: attempt.address };
      const after = await updateAccount(ctx, trx, before, { password_hash }, { actor, action: 'LINK_USED' });
      await recordSignIn(ctx, trx, after, attempt);
      // Also what was guessed from other browsers at this address.
      await clearFailures(ctx, trx, { ...attempt, device: null });
      return { before, after, token: await openSession(trx, after, attempt, ctx.clock.now()) };
    });
    await uncountCode(ctx, attempt);
    await ctx.mailAccountChanges({ id: user.shop_id, name: shopName }, before, after);
    return finishSignIn(ctx, token);
  });
};
