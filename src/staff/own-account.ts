import type { ChangeEmail, OwnSessions, Proof } from '../../contract/admin-access.ts';
import type { ChangePassword, SignedIn } from '../../contract/admin-people.ts';
import { toIso } from '../lib/time.ts';
import type { Context } from '../service/context.ts';
import { ServiceError } from '../service/errors.ts';
import { sha256 } from '../service/secrets.ts';
import { hashPassword, isPassword, passwordTurns } from './passwords.ts';
import { spendCode, WRONG_CODE, wrong } from './second-factor.ts';
import { endSession, openSession, type Self, type SignInOrigin } from './sessions.ts';
import { recordCounted, viewSignedIn } from './sign-in.ts';
import { changeAccount, findUser, lockSelf, normalizeEmail, type UserRow, updateAccount } from './users.ts';

// What people do about their own account, and the proof of identity that the riskier requests need (docs/contract.md).

const PROOF_MS = 10 * 60_000;
/** How often one session may be wrong about the password or a code. The last wrong guess ends it. */
const WRONG_GUESSES = 10;
const WRONG_PASSWORD = 'is not your current password';

/** Throws unless a proof was given in the last ten minutes. One from the future was written by a clock that was wrong. */
export const requireProof = ({ clock }: Context, provedAt: number): void => {
  if (Math.abs(clock.now() - provedAt) >= PROOF_MS) throw new ServiceError('PROOF_REQUIRED');
};

/** Checks the password or a code and records the proof in the session, which ends with the tenth wrong guess. Returns the person. */
export const prove = async (
  ctx: Context,
  { caller, user: { id }, sessionToken }: Self,
  { password, code }: Proof,
  field = 'password',
): Promise<UserRow> => {
  const session = sha256(sessionToken);
  // Counted before it is checked, so that guessing in parallel gains nothing.
  const guess = await ctx.db
    .updateTable('sessions')
    .set((eb) => ({ wrong_passwords: eb('wrong_passwords', '+', 1) }))
    .where('token_hash', '=', session)
    .where('wrong_passwords', '<', WRONG_GUESSES)
    .returning('wrong_passwords as count')
    .executeTakeFirst();
  if (!guess) throw new ServiceError('SIGNED_OUT');
  const before = await findUser(ctx.db, id);
  const passwordHash = before?.password_hash ?? null;
  const isRight = password !== null && (await passwordTurns.run(() => isPassword(passwordHash, password)));
  const proved = await ctx.db.transaction().execute(async (trx) => {
    const user = await lockSelf(trx, id);
    const isProven =
      (isRight && user.password_hash === passwordHash) ||
      // A factor that is being set up proves nothing yet.
      (code !== null && user.factor_since !== null && (await spendCode(ctx, trx, user, code)));
    if (!isProven) return null;
    const proof = { wrong_passwords: 0, proved_at: ctx.clock.now() };
    await trx.updateTable('sessions').set(proof).where('token_hash', '=', session).execute();
    return user;
  });
  if (proved) return proved;
  // Another person may sit at the open session.
  const { address = '' } = caller.actor;
  ctx.log.warn({ address, userId: id }, 'proof of identity refused');
  const trace = { action: 'PROOF_REFUSED', address } as const;
  if (before) await ctx.db.transaction().execute((trx) => recordCounted(ctx, trx, before, trace));
  if (guess.count >= WRONG_GUESSES) await endSession(ctx.db, sessionToken);
  throw code === null ? wrong(field, WRONG_PASSWORD) : wrong('code', WRONG_CODE);
};

export const changeOwnPassword = async (
  ctx: Context,
  self: Self,
  from: SignInOrigin,
  given: ChangePassword,
) => {
  const { caller, user } = self;
  const { currentPassword, code, newPassword } = given;
  const proved = await prove(ctx, self, { password: currentPassword, code }, 'currentPassword');
  const password_hash = await hashPassword(newPassword);
  const { token } = await changeAccount(ctx, caller.shop, async (trx) => {
    const before = await lockSelf(trx, user.id);
    // It changed after the proof: another request was faster.
    if (before.password_hash !== proved.password_hash) throw wrong('currentPassword', WRONG_PASSWORD);
    const after = await updateAccount(ctx, trx, before, { password_hash }, caller);
    return { before, after, token: await openSession(trx, after, from, ctx.clock.now()) };
  });
  if (!token) throw new ServiceError('SIGNED_OUT');
  return { token, signedIn: viewSignedIn(caller, { ...user, passwordExposedAt: null }) };
};

export const changeOwnEmail = async (ctx: Context, self: Self, given: ChangeEmail): Promise<SignedIn> => {
  const { caller, user } = self;
  const { currentPassword, code } = given;
  await prove(ctx, self, { password: currentPassword, code }, 'currentPassword');
  const email = normalizeEmail(given.email);
  await changeAccount(ctx, caller.shop, async (trx) => {
    const before = await lockSelf(trx, user.id);
    return { before, after: await updateAccount(ctx, trx, before, { email }, caller) };
  });
  return viewSignedIn(caller, { ...user, email });
};

/** "Sign out everywhere else" reaches the others too. */
const MAX_LISTED = 100;

export const listOwnSessions = async (ctx: Context, { user, sessionToken }: Self): Promise<OwnSessions> => {
  const rows = await ctx.db
    .selectFrom('sessions')
    .select(['id', 'token_hash', 'browser', 'address', 'created_at', 'last_used_at'])
    .where('user_id', '=', user.id)
    .where('expires_at', '>', ctx.clock.now())
    .orderBy('last_used_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_LISTED)
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

export const endOwnSession = async ({ db }: Context, { user }: Self, id: string): Promise<void> => {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('user_id', '=', user.id)
    .where('id', '=', id)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw new ServiceError('SESSION_NOT_FOUND');
};

/** The first that matches: Edge and Opera also call themselves Chrome, and Chrome calls itself Safari. */
const BROWSERS: [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/(Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: [RegExp, string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPod)\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];
const MAX_NAME_LENGTH = 60;
const PRINTABLE = /^[\x20-\x7e]+$/;

/** "Firefox on Windows"; of other programs what they call themselves, null where they do not. */
export const browserOf = (userAgent = ''): string | null => {
  const nameIn = (table: [RegExp, string][]) => table.find(([pattern]) => pattern.test(userAgent))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (browser) return system ? `${browser} on ${system}` : browser;
  const [program = ''] = userAgent.split(' ');
  return PRINTABLE.test(program) ? program.slice(0, MAX_NAME_LENGTH) : null;
};
