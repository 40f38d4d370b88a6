import type { ChangeEmail, OwnSessions, Proof } from '../../contract/admin-access.ts';
import { changesBetween, recordAudit } from '../audit/store.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Row } from '../db/schema.ts';
import { ServiceError } from '../errors.ts';
import { instant } from '../instant.ts';
import { sha256 } from '../secrets.ts';
import { endLinksOf } from './links.ts';
import { isPassword, passwordTurns } from './passwords.ts';
import { spendCode } from './second-factor.ts';
import { countPasswordGuess, endSession, noteProof, type SignedInUser } from './sessions.ts';
import { traceWrongProof } from './sign-in-attempt.ts';
import { findUser, keptEmail, lockOne, updateUser } from './store.ts';
import { aboutUser } from './user-view.ts';
import { refuseTakenEmail } from './users.ts';

// What people do about their own account, and the proof of identity that the riskier requests need (contract §22).

/** The person who is signed in, and their session. */
export interface Self {
  caller: Caller;
  user: SignedInUser;
  sessionToken: string | undefined;
}

const PROOF_MS = 10 * 60_000;

/** Throws unless a proof was given in the last ten minutes. One from the future was noted by a clock that was wrong. */
export const requireProof = ({ clock }: Pick<Context, 'clock'>, request: { provedAt: number }): void => {
  if (Math.abs(clock.now() - request.provedAt) >= PROOF_MS) throw new ServiceError('PROOF_REQUIRED');
};

export const wrong = (field: string, message: string): ServiceError =>
  new ServiceError('VALIDATION_FAILED', {
    faults: [{ field, rule: 'wrong', message: `${field} ${message}` }],
  });
export const WRONG_CODE = 'is wrong, or it was used before';

/**
 * Checks the person's password or a code, and notes the proof in their session. A session may be wrong ten times and ends with
 * the tenth; guesses are counted before they are checked. Returns the person as they were when they gave it.
 */
export const prove = async (
  ctx: Context,
  { caller: { actor }, user: { id }, sessionToken }: Self,
  { password, code }: Proof,
  field = 'password',
): Promise<Row<'users'>> => {
  const guess = await countPasswordGuess(ctx.db, sessionToken);
  if (!guess) throw new ServiceError('SIGNED_OUT');
  const before = await findUser(ctx.db, id);
  const passwordHash = before?.password_hash ?? null;
  const isRight = password !== null && (await passwordTurns.run(() => isPassword(passwordHash, password)));
  const proved = await ctx.db.transaction().execute(async (trx) => {
    const user = await lockOne(trx, id);
    if (!user) throw new ServiceError('SIGNED_OUT');
    const isProven =
      (isRight && user.password_hash === passwordHash) ||
      // A factor that is being set up proves nothing yet.
      (code !== null && user.factor_since !== null && (await spendCode(ctx, trx, user, code)));
    if (!isProven) return null;
    await noteProof(trx, sessionToken, ctx.clock.now());
    return user;
  });
  if (proved) return proved;
  await traceWrongProof(ctx, before, actor.address ?? '');
  if (guess.wasLast) await endSession(ctx.db, sessionToken);
  throw code === null ? wrong(field, 'is not your current password') : wrong('code', WRONG_CODE);
};

/** Links that were mailed to the address before end. */
export const changeOwnEmail = async (
  ctx: Context,
  self: Self,
  { email, currentPassword, code }: ChangeEmail,
): Promise<SignedInUser> => {
  const { shop, actor } = self.caller;
  await prove(ctx, self, { password: currentPassword, code }, 'currentPassword');
  const { before, after } = await ctx.db
    .transaction()
    .execute(async (trx) => {
      const before = await lockOne(trx, self.user.id);
      if (!before) throw new ServiceError('SIGNED_OUT');
      const after = await updateUser(trx, before.id, { email: keptEmail(email) });
      const data = changesBetween(before, after, ['email']);
      if (data) {
        await endLinksOf(trx, before.id);
        await recordAudit(trx, {
          ...aboutUser(after),
          at: ctx.clock.now(),
          actor,
          action: 'USER_CHANGED',
          data,
        });
      }
      return { before, after };
    })
    .catch(refuseTakenEmail);
  await ctx.mailAccountChanges(shop, before, after);
  return { ...self.user, email: after.email };
};

/** The person's sessions that have not ended, the one used last first. */
export const listOwnSessions = async (
  ctx: Context,
  { user, sessionToken = '' }: Self,
): Promise<OwnSessions> => {
  const rows = await ctx.db
    .selectFrom('sessions')
    .select(['id', 'token_hash', 'browser', 'address', 'created_at', 'last_used_at'])
    .where('user_id', '=', user.id)
    .where('expires_at', '>', ctx.clock.now())
    .orderBy('last_used_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MOST_LISTED)
    .execute();
  return {
    items: rows.map((row) => ({
      id: row.id,
      browser: row.browser,
      address: row.address,
      createdAt: instant(row.created_at),
      lastUsedAt: instant(row.last_used_at),
      isCurrent: row.token_hash === sha256(sessionToken),
    })),
  };
};
/** "Sign out everywhere else" reaches the others too. */
const MOST_LISTED = 100;

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
const LONGEST_NAME = 60;
const PRINTABLE = /^[\x20-\x7e]+$/;

/** "Firefox on Windows"; of other programs what they call themselves, null where they do not. */
export const browserOf = ({
  'user-agent': userAgent = '',
}: {
  'user-agent'?: string | undefined;
}): string | null => {
  const nameIn = (table: [RegExp, string][]) => table.find(([pattern]) => pattern.test(userAgent))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (browser) return system ? `${browser} on ${system}` : browser;
  const [program = ''] = userAgent.split(' ');
  return PRINTABLE.test(program) ? program.slice(0, LONGEST_NAME) : null;
};
