import type { ChangePassword, SignedIn, SignIn } from '../../contract/admin-people.ts';
import { recordAudit } from '../audit/store.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Row } from '../db/tables.ts';
import { ServiceError } from '../errors.ts';
import { attemptInTurn } from './attempts.ts';
import { deviceWith, isAddressOf, isDeviceOf, rememberAddress } from './known-places.ts';
import { clearFailures, countFailure, refuseLocked, type Visitor } from './lock-out.ts';
import { hashPassword, isPassword, passwordTurns } from './passwords.ts';
import {
  countPasswordGuess,
  endSession,
  endSessionsOf,
  findSession,
  openSession,
  type SignedInUser,
} from './sessions.ts';
import { findByEmail, findUser, keptEmail, replacePassword } from './store.ts';
import { aboutUser, PASSWORD_CHANGED } from './users.ts';

export const viewSignedIn = ({ shop }: Caller, { id, email, name, role }: SignedInUser): SignedIn => ({
  user: { id, email, name, role },
  shop: {
    id: shop.id,
    name: shop.name,
    plan: shop.plan,
    subscription: shop.active ? 'active' : 'inactive',
  },
});

/** The token goes into the cookie and nowhere else. */
interface NewSession {
  token: string;
  signedIn: SignedIn;
}

/** Where a sign-in comes from, according to the request. */
interface Origin {
  address: string;
  /** The browser's cookie from earlier sign-ins. */
  device: string | undefined;
}

/** An id that nobody has, so that an e-mail without an account costs the same queries. */
const NOBODY = '00000000-0000-7000-8000-000000000000';

const visitorFor = async (
  ctx: Context,
  { address, device }: Origin,
  email: string,
  userId = NOBODY,
): Promise<Visitor> => {
  const hasDevice = isDeviceOf(ctx.secrets, userId, device);
  const isKnown = (await isAddressOf(ctx, userId, address)) || hasDevice;
  return { email, address, hasDevice, isKnown };
};

export const signIn = (
  ctx: Context,
  origin: Origin,
  { email: given, password }: SignIn,
): Promise<NewSession & { device: string }> => {
  const email = keptEmail(given);
  const attempt = async () => {
    const user = await findByEmail(ctx.db, email);
    const visitor = await visitorFor(ctx, origin, email, user?.id);
    await refuseLocked(ctx, visitor);
    const right = await isPassword(user?.password_hash ?? null, password);
    const token = user && right ? await openSessionFrom(ctx, user, visitor) : null;
    const session = token && (await findSession(ctx, token));
    if (!session) {
      await countFailure(ctx, visitor);
      throw new ServiceError('SIGN_IN_FAILED');
    }
    const device = deviceWith(ctx.secrets, session.user.id, origin.device);
    return { token, device, signedIn: viewSignedIn(session.caller, session.user) };
  };
  return attemptInTurn(email, origin.address, () => passwordTurns.run(attempt));
};

const openSessionFrom = (ctx: Context, user: Row<'users'>, visitor: Visitor): Promise<string | null> =>
  ctx.db.transaction().execute(async (trx) => {
    const token = await openSession(trx, user, ctx.clock.now());
    if (!token) return null;
    await rememberAddress(ctx, trx, user.id, visitor.address);
    await clearFailures(trx, visitor);
    return token;
  });

const WRONG_PASSWORD = {
  faults: [
    { field: 'currentPassword', rule: 'wrong', message: 'currentPassword is not your present password' },
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
