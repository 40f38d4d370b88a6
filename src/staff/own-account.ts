import type {
  ChangeEmail,
  OwnSessions,
  Proof,
  RecoveryCodes,
  SecondFactorCode,
} from '../../contract/admin-access.ts';
import type { ChangePassword, SignedIn } from '../../contract/admin-people.ts';
import { toIso } from '../lib/time.ts';
import type { Core } from '../platform/core.ts';
import { invalidField, ServiceError } from '../platform/errors.ts';
import { sha256 } from '../platform/secrets.ts';
import { hashNewPassword, isPassword, runInKnownLane } from './passwords.ts';
import { lockFactor, removeFactor, replaceRecoveryCodes, spendCode, wrongCode } from './second-factor.ts';
import { endSession, openSession, viewSignedIn } from './sessions.ts';
import { recordCounted, refusePerson } from './sign-in.ts';
import type { Self, SignInOrigin, StaffServices, UserRow } from './types.ts';
import { auditUser, changeAccount, findUser, lockSelf, normalizeEmail, updateAccount } from './users.ts';

// A person's own account, and the proof of identity that sensitive requests require (docs/contract.md).

const PROOF_MS = 10 * 60_000;
/** The number of wrong passwords or codes that ends a session. */
const WRONG_GUESSES = 10;
const wrongPassword = (field: string) => invalidField(field, 'wrong', 'is not your current password');

/** Throws unless the identity was proved in the last ten minutes. A proof in the future was written by a wrong clock and does not count. */
export const requireProof = ({ clock }: Core, provedAt: number): void => {
  if (Math.abs(clock.now() - provedAt) >= PROOF_MS) throw new ServiceError('PROOF_REQUIRED');
};

/** Checks the password or a code and records the proof in the session. The tenth wrong guess ends the session. */
export const prove = async (
  ctx: StaffServices,
  { caller, user: { id }, sessionToken }: Self,
  { password, code }: Proof,
  field = 'password',
): Promise<UserRow> => {
  const session = sha256(sessionToken);
  refusePerson(ctx, id);
  // Each guess is counted before it is checked, so that parallel guesses gain nothing.
  const guess = await ctx.db
    .updateTable('sessions')
    .set((eb) => ({ wrong_passwords: eb('wrong_passwords', '+', 1) }))
    .where('token_hash', '=', session)
    .where('wrong_passwords', '<', WRONG_GUESSES)
    .returning('wrong_passwords as count')
    .executeTakeFirst();
  if (!guess) throw new ServiceError('SIGNED_OUT');
  const passwordHash = (await findUser(ctx.db, id))?.password_hash ?? null;
  const isRight =
    password !== null && (await runInKnownLane(caller.shop.id, () => isPassword(passwordHash, password)));
  const { address = '' } = caller.actor;
  const proved = await ctx.db.transaction().execute(async (trx) => {
    const user = await lockSelf(trx, id);
    const isProven =
      (isRight && user.password_hash === passwordHash) ||
      // A factor that is being set up proves nothing yet.
      (code !== null && user.factor_since !== null && (await spendCode(ctx, trx, user, code)));
    const proof = { wrong_passwords: 0, proved_at: ctx.clock.now() };
    if (isProven) await trx.updateTable('sessions').set(proof).where('token_hash', '=', session).execute();
    else await recordCounted(ctx, trx, user, { action: 'PROOF_REFUSED', address });
    return isProven ? user : null;
  });
  if (proved) return proved;
  // Somebody else may be using the open session.
  ctx.log.warn({ address, userId: id }, 'proof of identity refused');
  if (guess.count >= WRONG_GUESSES) await endSession(ctx.db, sessionToken);
  throw code === null ? wrongPassword(field) : wrongCode();
};

/**
 * For requests that could bypass the second factor: a recent proof by password is not enough, since somebody who stole it must
 * still be stopped by the factor.
 */
const proveByCode = (ctx: StaffServices, self: Self, code: string | null): Promise<UserRow> => {
  if (code === null) throw invalidField('code', 'required', 'is required: two-step verification is on');
  return prove(ctx, self, { password: null, code });
};

export const changeOwnPassword = async (
  ctx: StaffServices,
  self: Self,
  from: SignInOrigin,
  given: ChangePassword,
) => {
  const { currentPassword, code, newPassword } = given;
  if (!ctx.config.passwordSignIn) throw new ServiceError('PASSWORD_SIGN_IN_OFF');
  if (self.user.providerOnly)
    throw new ServiceError('PROVIDER_ONLY', {
      message: 'You sign in through the identity provider and have no password: an Admin can give you one.',
    });
  const proved = self.user.secondFactor
    ? await proveByCode(ctx, self, code)
    : await prove(ctx, self, { password: currentPassword, code }, 'currentPassword');
  await ctx.mailLimits.accountChange(self.caller);
  const about = { shopName: self.caller.shop.name, email: self.user.email };
  const password_hash = await hashNewPassword('newPassword', newPassword, about);
  const { token } = await changeAccount(ctx, async (trx) => {
    const before = await lockSelf(trx, self.user.id);
    // A concurrent request changed it after the proof.
    const isSame =
      before.password_hash === proved.password_hash && before.factor_since === proved.factor_since;
    if (!isSame) throw wrongPassword('currentPassword');
    const after = await updateAccount(ctx, trx, before, { password_hash }, self.caller);
    return { before, after, token: await openSession(trx, after, from, ctx.clock.now()) };
  });
  return token;
};

/** A person who has no password here confirms their identity at the provider instead. */
export const changeOwnEmail = async (
  ctx: StaffServices,
  self: Self,
  given: ChangeEmail,
): Promise<SignedIn> => {
  const { caller, user } = self;
  const { currentPassword, code } = given;
  const hasPassword = ctx.config.passwordSignIn && !user.throughProvider;
  if (currentPassword !== null || code !== null)
    await prove(ctx, self, { password: currentPassword, code }, 'currentPassword');
  else if (hasPassword) throw invalidField('currentPassword', 'required', 'is required, or else a code');
  else requireProof(ctx, self.provedAt);
  const email = normalizeEmail(given.email);
  await ctx.mailLimits.accountChange(caller);
  if (email !== user.email) await ctx.mailLimits.newEmail(caller);
  await changeAccount(ctx, async (trx) => {
    const before = await lockSelf(trx, user.id);
    const change = { email, ...(email === before.email ? {} : { email_unconfirmed: 1 }) };
    return { before, after: await updateAccount(ctx, trx, before, change, caller) };
  });
  return viewSignedIn({ caller, user: { ...user, email } });
};

/** Throws unless the person has a second factor and this code is valid. */
const checkFactor = async (ctx: StaffServices, self: Self, { code }: SecondFactorCode): Promise<void> => {
  if (!self.user.secondFactor) throw new ServiceError('SECOND_FACTOR_OFF');
  await proveByCode(ctx, self, code);
};

export const makeRecoveryCodes = async (
  ctx: StaffServices,
  self: Self,
  given: SecondFactorCode,
): Promise<RecoveryCodes> => {
  await checkFactor(ctx, self, given);
  await ctx.mailLimits.recoveryCodes(self.caller);
  const { recoveryCodes } = await changeAccount(ctx, async (trx) => {
    const user = await lockFactor(trx, self);
    await auditUser(ctx, trx, user, self.caller.actor, 'RECOVERY_CODES_MADE');
    const recoveryCodes = await replaceRecoveryCodes(trx, user.id);
    return { before: user, after: user, hasNewRecoveryCodes: true, recoveryCodes };
  });
  return { recoveryCodes };
};

export const turnFactorOff = async (
  ctx: StaffServices,
  self: Self,
  given: SecondFactorCode,
): Promise<void> => {
  await checkFactor(ctx, self, given);
  await changeAccount(ctx, async (trx) => {
    const before = await lockFactor(trx, self);
    await auditUser(ctx, trx, before, self.caller.actor, 'SECOND_FACTOR_OFF');
    return { before, after: await removeFactor(trx, before) };
  });
};

export const listOwnSessions = async (ctx: Core, { user, sessionToken }: Self): Promise<OwnSessions> => {
  const rows = await ctx.db
    .selectFrom('sessions')
    .select(['id', 'token_hash', 'browser', 'address', 'created_at', 'last_used_at'])
    .where('user_id', '=', user.id)
    .where('expires_at', '>', ctx.clock.now())
    .orderBy('last_used_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return {
    items: rows.map((row) => ({
      id: row.id,
      browser: row.browser,
      address: row.address,
      createdAt: toIso(row.created_at),
      lastUsedAt: toIso(row.last_used_at),
      isCurrent: row.token_hash === sha256(sessionToken),
    })),
  };
};

export const endOwnSession = async ({ db }: Core, { user }: Self, id: string): Promise<void> => {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('user_id', '=', user.id)
    .where('id', '=', id)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw new ServiceError('SESSION_NOT_FOUND');
};
