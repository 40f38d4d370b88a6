import type { ChangePassword, SignedIn, SignIn } from '../../contract/admin-people.ts';
import { recordAudit } from '../audit/store.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Row } from '../db/tables.ts';
import { ServiceError } from '../errors.ts';
import { deviceWith } from './known-places.ts';
import { endLinksOf } from './links.ts';
import { refuseLocked, type Visitor } from './lock-out.ts';
import { prove, type Self, wrong } from './own-account.ts';
import { hashPassword, isPassword, passwordTurns } from './passwords.ts';
import { passFactor } from './second-factor.ts';
import { endSessionsOf, findSession, openSession, type SignedInUser, type UsedFrom } from './sessions.ts';
import { findByEmail, keptEmail, replacePassword } from './store.ts';
import { aboutUser, PASSWORD_CHANGED } from './user-view.ts';
import { countingGuesses, letIn, type Origin, visitorFor } from './visitors.ts';

export const viewSignedIn = (
  { shop }: Caller,
  { id, email, name, role, hasFactor }: SignedInUser,
): SignedIn => ({
  user: { id, email, name, role, secondFactor: hasFactor },
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
): Promise<NewSession & { device: string }> => {
  const email = keptEmail(given);
  return countingGuesses(ctx, { email, address: origin.address }, (remember) =>
    passwordTurns.run(async () => {
      const user = await findByEmail(ctx.db, email);
      const visitor = await visitorFor(ctx, origin, email, user?.id);
      await refuseLocked(ctx, visitor);
      remember(visitor);
      const right = await isPassword(user?.password_hash ?? null, password);
      const token = user && right ? await openSessionFrom(ctx, user, visitor, origin, code) : null;
      return welcome(ctx, token, origin);
    }),
  );
};

/** The session behind a new token, and the browser's new cookie. */
export const welcome = async (
  ctx: Context,
  token: string | null,
  { device }: Origin,
): Promise<NewSession & { device: string }> => {
  const session = token && (await findSession(ctx, token));
  if (!session) throw new ServiceError('SIGN_IN_FAILED');
  return {
    token,
    device: deviceWith(ctx.secrets, session.user.id, device),
    signedIn: viewSignedIn(session.caller, session.user),
  };
};

/** A code that is missing or wrong throws, and undoes the rest. */
const openSessionFrom = (
  ctx: Context,
  user: Row<'users'>,
  visitor: Visitor,
  origin: Origin,
  code: string | null,
): Promise<string | null> =>
  ctx.db.transaction().execute(async (trx) => {
    const token = await openSession(trx, user, origin, ctx.clock.now());
    if (!token) return null;
    await passFactor(ctx, trx, user.id, code);
    await letIn(ctx, trx, user.id, visitor);
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
  return { token, signedIn: viewSignedIn(caller, user) };
};
