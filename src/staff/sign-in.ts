import type { LinkTarget, UseLink } from '../../contract/admin-access.ts';
import type { SignedIn, SignIn } from '../../contract/admin-people.ts';
import type { Trx } from '../db/database.ts';
import type { Row } from '../db/schema.ts';
import type { Context } from '../service/context.ts';
import { ServiceError } from '../service/errors.ts';
import type { Caller } from '../shops/plans.ts';
import { ownerOf, spendLink } from './links.ts';
import { hashPassword, isPassword, passwordTurns } from './passwords.ts';
import { passFactor } from './second-factor.ts';
import { endSessionsOf, findSession, openSession, type SignedInUser } from './sessions.ts';
import {
  attemptSignIn,
  clearFailures,
  countCode,
  type Origin,
  recordSignIn,
  refuseLocked,
  type SignInAttempt,
  uncountCode,
} from './sign-in-attempt.ts';
import {
  actorOf,
  auditUser,
  endLinksOf,
  lockOne,
  normalizeEmail,
  PASSWORD_CHANGED,
  updateUser,
} from './store.ts';

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

export const signIn = (ctx: Context, origin: Origin, given: SignIn): Promise<NewSession> =>
  attemptSignIn(ctx, origin, normalizeEmail(given.email), (attempt) =>
    // Two at once, to the end: a hundred guesses at the same time from as many addresses cannot all pass the lock, or all be
    // counted as codes, before the first one's result is written.
    passwordTurns.run(() => signInWith(ctx, attempt, given)),
  );

/** Check the lock, verify the password, count the code, open a session. `attemptSignIn` records a refusal. */
const signInWith = async (
  ctx: Context,
  attempt: SignInAttempt,
  { password, code }: SignIn,
): Promise<NewSession> => {
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

/**
 * Sets the password, ends the person's sessions and other links, and signs them in here. A second factor is asked for all the
 * same: a mailbox that was broken into is not enough. A wrong code leaves the link good.
 */
export const choosePassword = async (
  ctx: Context,
  origin: Origin,
  { token: linkToken, password, code }: UseLink,
): Promise<NewSession> => {
  const { user, shopName } = await ownerOf(ctx, linkToken);
  return attemptSignIn(ctx, origin, user.email, async (attempt) => {
    if (user.factor_since !== null && code === null)
      throw new ServiceError('SECOND_FACTOR_REQUIRED', {
        message: 'A code of your second factor is needed as well.',
      });
    const passwordHash = await hashPassword(password);
    await countCode(ctx, attempt, code);
    const { token, before } = await ctx.db.transaction().execute(async (trx) => {
      const before = await lockOne(trx, user.id);
      if (!before || !(await spendLink(trx, user.id, linkToken, ctx.clock.now())))
        throw new ServiceError('LINK_EXPIRED');
      await passFactor(ctx, trx, user.id, code);
      return { before, token: await setPassword(ctx, trx, before, passwordHash, attempt) };
    });
    await uncountCode(ctx, attempt);
    const shop = { id: user.shop_id, name: shopName };
    await ctx.mailAccountChanges(shop, before, { ...before, password_hash: passwordHash });
    return finishSignIn(ctx, token);
  });
};

const setPassword = async (
  ctx: Context,
  trx: Trx,
  before: Row<'users'>,
  passwordHash: string,
  attempt: SignInAttempt,
): Promise<string | null> => {
  const user = await updateUser(trx, before.id, { password_hash: passwordHash, password_exposed_at: null });
  await endLinksOf(trx, user.id);
  await endSessionsOf(trx, user.id);
  const actor = { ...actorOf(user), address: attempt.address };
  await auditUser(ctx, trx, user, actor, 'LINK_USED', PASSWORD_CHANGED);
  await recordSignIn(ctx, trx, user, attempt);
  // Also what was guessed from other browsers at this address.
  await clearFailures(ctx, trx, { ...attempt, device: null });
  return openSession(trx, user, attempt, ctx.clock.now());
};
