import { sql } from 'kysely';
import type { AuditAction, SignIn } from '../../contract/admin-people.ts';
import type { Actor } from '../../contract/common.ts';
import { UNKNOWN_PERSON } from '../audit/store.ts';
import { memoryRateGate } from '../db/rate-windows.ts';
import type { Db, Trx } from '../db/types.ts';
import { BoundedQueue } from '../lib/bounded-queue.ts';
import { newId } from '../lib/ids.ts';
import { HOUR_MS } from '../lib/time.ts';
import type { Core } from '../platform/core.ts';
import { type ErrorCode, rateLimited, ServiceError } from '../platform/errors.ts';
import { findShop } from '../shops/store.ts';
import { accountMail, EXPOSED } from './account-mails.ts';
import { isPassword, LANES, runInKnownLane, tooManyAtOnce } from './passwords.ts';
import { passFactor } from './second-factor.ts';
import { isAddressOf, openSession, rememberAddress, trustedDevice } from './sessions.ts';
import type { SignInLimits, SignInOrigin, StaffServices, UserRow } from './types.ts';
import { actorOf, auditUser, findByEmail, normalizeEmail, updateUser } from './users.ts';

// Signing in: the queue, lock-out, password and code, the session, and the entry in the audit log (docs/contract.md).

export interface SignInAttempt {
  from: SignInOrigin;
  email: string;
  /** The code of the second factor, or null if none was given. */
  code: string | null;
  user: UserRow | null;
  /** The id of a browser with which the person signed in before: its failures are counted separately from others at its address. */
  device: string | null;
  /** Whether this browser or address has signed in to this email before, or the person has a link. */
  isKnown: boolean;
  /** The number of wrong codes within a day, including this attempt; 0 until it is counted. */
  codesToday: number;
}

const MINUTE_MS = 60_000;
const TRACE_MS = 15 * MINUTE_MS;
const PASSWORD_LOCK_MS = 15 * MINUTE_MS;

interface Limit {
  failures: number;
  ms: number;
  /** Failures with the same key are counted together. */
  key: string;
}

/** Keys are signed, so that nobody can find addresses or emails by trying them against a copy of the database. */
const failureKey = ({ secrets }: Core, parts: (string | null)[]): string =>
  secrets.signatures('sign-in failures', JSON.stringify(parts))[0] ?? '';

/** The key of an email together with a known browser, or else with an address. */
const pairKey = (ctx: StaffServices, email: string, address: string, device: string | null): string =>
  failureKey(ctx, device ? ['pair', email, 'device', device] : ['pair', email, 'address', address]);

/**
 * Limits of wrong passwords. The last two lock only browsers and addresses that never signed in to the email, so guessing cannot
 * lock out its owner.
 */
const passwordLimits = (ctx: StaffServices, { email, from: { address }, device }: SignInAttempt): Limit[] => [
  { failures: 10, ms: PASSWORD_LOCK_MS, key: pairKey(ctx, email, address, device) },
  { failures: 100, ms: PASSWORD_LOCK_MS, key: failureKey(ctx, ['email', email]) },
  { failures: 100, ms: PASSWORD_LOCK_MS, key: failureKey(ctx, ['address', address]) },
];

/**
 * Limits of wrong codes after a correct password. Untrusted browsers share a count. Three of a million codes are valid, so 50
 * guesses a day find one within 13 years with a probability of one half.
 */
const codeLimits = (ctx: StaffServices, { user, device }: SignInAttempt): Limit[] => [
  { failures: 10, ms: HOUR_MS, key: failureKey(ctx, ['codes-hour', user?.id ?? null, device]) },
  { failures: 50, ms: 24 * HOUR_MS, key: failureKey(ctx, ['codes-day', user?.id ?? null, device]) },
];
/** After this many wrong codes within a day the person is warned that somebody knows their password. */
const WARNED_AT = 10;

/** A lock that ends later than its duration plus this was written by a wrong clock. */
const CLOCK_SKEW_MS = MINUTE_MS;

/** No user has this id. With it an email without an account costs the same queries. */
const NO_USER_ID = '00000000-0000-7000-8000-000000000000';

const lockedOut = (what: string, untilMs: number, nowMs: number): ServiceError => {
  const waitS = Math.max(1, Math.ceil((untilMs - nowMs) / 1000));
  const [count, unit] = waitS > 2 * 60 * 60 ? [waitS / 3600, 'hours'] : [waitS / 60, 'minutes'];
  const wait = waitS <= 60 ? 'a minute' : `${Math.ceil(count)} ${unit}`;
  return new ServiceError('LOCKED_OUT', {
    message: `Too many wrong ${what}. Try again in ${wait}.`,
    headers: { 'retry-after': String(waitS) },
  });
};

const refuseLocked = async (ctx: StaffServices, attempt: SignInAttempt): Promise<void> => {
  const nowMs = ctx.clock.now();
  const limits = passwordLimits(ctx, attempt).slice(0, attempt.isKnown ? 1 : undefined);
  const { until } = await ctx.db
    .selectFrom('sign_in_failures')
    .select((eb) => eb.fn.max<number | null>('expires_at').as('until'))
    .where('expires_at', '>', nowMs)
    .where('expires_at', '<=', nowMs + PASSWORD_LOCK_MS + CLOCK_SKEW_MS)
    .where((eb) =>
      eb.or(limits.map((limit) => eb('key', '=', limit.key).and('failures', '>=', limit.failures))),
    )
    .executeTakeFirstOrThrow();
  if (until !== null) throw lockedOut('passwords', until, nowMs);
};

/** Counts a failure. The one that reaches the limit starts the lock; later ones do not extend it. */
const countFailure = (
  db: Db,
  nowMs: number,
  { key, failures: limit, ms }: Limit,
  auditId: string | null = null,
) => {
  const old = sql.ref('sign_in_failures.expires_at');
  const isLive = sql<boolean>`(${old} > ${nowMs} and ${old} <= ${nowMs + ms + CLOCK_SKEW_MS})`;
  const stays = sql<boolean>`(${isLive} and sign_in_failures.failures + 1 <> ${limit})`;
  return db
    .insertInto('sign_in_failures')
    .values({ key, failures: 1, expires_at: nowMs + ms, audit_id: auditId })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet({
        failures: sql<number>`case when ${isLive} then sign_in_failures.failures + 1 else 1 end`,
        expires_at: sql<number>`case when ${stays} then ${old} else ${nowMs + ms} end`,
        audit_id: sql<string>`case when ${isLive} then sign_in_failures.audit_id else excluded.audit_id end`,
      }),
    )
    .returning(['failures', 'expires_at', 'audit_id'])
    .executeTakeFirstOrThrow();
};

/** Whether no process has seen this value within this time. */
export const isFirstUse = async (
  ctx: StaffServices,
  what: string,
  value: string,
  ms: number,
): Promise<boolean> => {
  const limit = { key: failureKey(ctx, [what, value]), failures: 0, ms };
  return (await countFailure(ctx.db, ctx.clock.now(), limit)).failures === 1;
};

/** Counts a code before it is checked, so that parallel guesses in many processes gain nothing. `openNewSession` uncounts a correct one. */
export const countCode = async (ctx: StaffServices, attempt: SignInAttempt): Promise<void> => {
  if (!attempt.user || attempt.user.factor_since === null || attempt.code === null) return;
  const nowMs = ctx.clock.now();
  for (const limit of codeLimits(ctx, attempt)) {
    const { failures, expires_at } = await countFailure(ctx.db, nowMs, limit);
    if (failures > limit.failures) throw lockedOut('codes', expires_at, nowMs);
    attempt.codesToday = failures;
  }
};

const uncountCode = async (ctx: StaffServices, trx: Trx, attempt: SignInAttempt): Promise<void> => {
  if (attempt.codesToday === 0) return;
  const keys = codeLimits(ctx, attempt).map(({ key }) => key);
  await trx
    .updateTable('sign_in_failures')
    .set((eb) => ({ failures: eb('failures', '-', 1) }))
    .where('key', 'in', keys)
    .where('failures', '>', 0)
    .execute();
};

/** Warns the person by mail, and in the admin app until the password changes. */
const warnPasswordExposed = async (ctx: StaffServices, user: UserRow): Promise<void> => {
  const exposed = { password_exposed_at: ctx.clock.now() };
  await ctx.db.updateTable('users').set(exposed).where('id', '=', user.id).execute();
  const shop = await findShop(ctx.db, user.shop_id);
  if (shop) ctx.mail?.warn(accountMail(EXPOSED, user, shop.name, `${ctx.config.publicUrl}/admin/account`));
};

/** Writes one entry per person, address and kind in 15 minutes. Further ones increase its count. */
export const recordCounted = async (
  ctx: StaffServices,
  trx: Trx,
  user: UserRow,
  { action, address, who = UNKNOWN_PERSON }: { action: AuditAction; address: string; who?: Actor },
): Promise<void> => {
  const at = ctx.clock.now();
  const id = newId(at);
  const key = failureKey(ctx, ['trace', action, user.id, address]);
  const entry = await countFailure(trx, at, { key, failures: 0, ms: TRACE_MS }, id);
  const actor = { ...who, address };
  await auditUser(ctx, trx, user, actor, action, { count: entry.failures }, entry.audit_id ?? id);
};

/** The refusals that are recorded. A correct password without its code is not a failure. */
const RECORDED_REFUSALS: Partial<Record<ErrorCode, { action: AuditAction; line: string }>> = {
  SIGN_IN_FAILED: { action: 'SIGN_IN_REFUSED', line: 'sign-in refused' },
  SECOND_FACTOR_WRONG: { action: 'SIGN_IN_CODE_REFUSED', line: 'sign-in refused: wrong code' },
  LOCKED_OUT: { action: 'SIGN_IN_LOCKED', line: 'sign-in locked' },
};

const recordRefusal = async (ctx: StaffServices, attempt: SignInAttempt, code: ErrorCode): Promise<void> => {
  const { user, codesToday } = attempt;
  const { address } = attempt.from;
  if (user && ctx.config.passwordSignIn && code === 'SECOND_FACTOR_WRONG' && codesToday === WARNED_AT)
    await warnPasswordExposed(ctx, user);
  const trace = RECORDED_REFUSALS[code];
  if (!trace) return;
  ctx.log.warn({ address, userId: user?.id ?? null, shopId: user?.shop_id ?? null }, trace.line);
  if (!user && code !== 'SIGN_IN_FAILED') return;
  await ctx.db.transaction().execute(async (trx) => {
    // The order is always the same, so that concurrent failures cannot deadlock.
    if (code === 'SIGN_IN_FAILED')
      for (const limit of passwordLimits(ctx, attempt)) await countFailure(trx, ctx.clock.now(), limit);
    if (user) await recordCounted(ctx, trx, user, { action: trace.action, address });
  });
};

// --- strangers and others ---

const SIXTY_A_MINUTE = (name: string) => [{ name, points: 60, seconds: 60 }] as const;

export const openSignInLimits = ({ rateGate, clock }: Core): SignInLimits => ({
  network: rateGate(SIXTY_A_MINUTE('sign-in-network-minute'), clock),
  strangers: rateGate([{ name: 'sign-in-strangers-second', points: 10, seconds: 1 }], clock),
  person: memoryRateGate(SIXTY_A_MINUTE('sign-in-person-minute')),
});

/** One subscriber often has a whole IPv6 /48, which is 65,536 networks. */
const networkOf = (address: string): string =>
  address.endsWith('::/64') ? address.split(':').slice(0, 3).join(':') : address;

/** Refuses strangers above the limit immediately, which is cheaper than checking a password: a flood never reaches the queue. */
const refuseStrangers = async ({ signInLimits }: StaffServices, address: string): Promise<void> => {
  for (const [gate, key] of [
    [signInLimits.network, networkOf(address)],
    [signInLimits.strangers, 'all'],
  ] as const) {
    const { refused, msBeforeNext } = await gate(key);
    if (refused) throw rateLimited(msBeforeNext);
  }
};

/** Limits each person, so that nobody can occupy the lane of known users. */
export const refusePerson = ({ signInLimits }: StaffServices, userId: string): void => {
  const state = signInLimits.person(userId);
  if (!(state instanceof Promise) && state.refused) throw rateLimited(state.msBeforeNext);
};

/**
 * Attempts for one email from one address share a queue, so that each failure is counted before the next guess. Other attempts
 * rarely share it.
 */
const newQueues = () =>
  Array.from(
    { length: 256 },
    () => new BoundedQueue({ atOnce: 1, waiting: 50, withinMs: 10_000, refusal: tooManyAtOnce }),
  );
const QUEUES = { known: newQueues(), stranger: newQueues() };
type Lane = keyof typeof LANES;

const laneOf = ({ isKnown }: SignInAttempt): Lane => (isKnown ? 'known' : 'stranger');

const queueOf = (ctx: StaffServices, attempt: SignInAttempt): BoundedQueue => {
  const [first = 0] = Buffer.from(
    failureKey(ctx, ['queue', attempt.email, attempt.from.address]),
    'base64url',
  );
  return QUEUES[laneOf(attempt)][first] as BoundedQueue;
};

/** Runs a sign-in when the queue lets it, returns the token of the session, and records a refusal. */
export const attemptSignIn = async (
  ctx: StaffServices,
  from: SignInOrigin,
  { email, code, hasLink = false }: Pick<SignInAttempt, 'email' | 'code'> & { hasLink?: boolean },
  steps: (attempt: SignInAttempt) => Promise<string>,
): Promise<string> => {
  const user = (await findByEmail(ctx.db, email)) ?? null;
  const device = user && trustedDevice(ctx.secrets, user, from.deviceCookie);
  // This query always runs, so that an email without an account takes as long.
  const isOwnAddress = await isAddressOf(ctx, user?.id ?? NO_USER_ID, from.address);
  const isKnown = hasLink || device !== null || isOwnAddress;
  const attempt: SignInAttempt = { from, email, code, user, device, isKnown, codesToday: 0 };
  if (!isKnown) await refuseStrangers(ctx, from.address);
  return queueOf(ctx, attempt).run(async () => {
    try {
      return await steps(attempt);
    } catch (error) {
      if (error instanceof ServiceError) await recordRefusal(ctx, attempt, error.code);
      throw error;
    }
  });
};

/** Opens a session and records it. A missing or wrong code throws and rolls back the rest. */
export const openNewSession = async (ctx: StaffServices, trx: Trx, user: UserRow, attempt: SignInAttempt) => {
  const { from, code } = attempt;
  const token = await openSession(trx, user, from, ctx.clock.now());
  await passFactor(ctx, trx, user.id, code);
  await recordSignIn(ctx, trx, user, from);
  await clearFailures(ctx, trx, attempt);
  await uncountCode(ctx, trx, attempt);
  return token;
};

export const recordSignIn = async (
  ctx: StaffServices,
  trx: Trx,
  user: UserRow,
  { address }: SignInOrigin,
) => {
  await updateUser(trx, user.id, { last_sign_in_at: ctx.clock.now() });
  await rememberAddress(ctx, trx, user.id, address);
  await recordCounted(ctx, trx, user, { action: 'SIGNED_IN', address, who: actorOf(user) });
};

/** Clears the failures of this email from this browser or address, after a correct password. */
export const clearFailures = async (ctx: StaffServices, trx: Trx, { email, from, device }: SignInAttempt) => {
  const key = pairKey(ctx, email, from.address, device);
  await trx.deleteFrom('sign_in_failures').where('key', '=', key).execute();
};

export const signIn = async (ctx: StaffServices, from: SignInOrigin, { email, password, code }: SignIn) => {
  if (!ctx.config.passwordSignIn) throw new ServiceError('PASSWORD_SIGN_IN_OFF');
  return attemptSignIn(ctx, from, { email: normalizeEmail(email), code }, (attempt) =>
    // Each lane finishes one attempt before the next: a hundred guesses from as many addresses cannot all pass the lock before one
    // is counted, and codes, which count as wrong until they are checked, cannot lock each other out.
    inLane(attempt, () => signInWith(ctx, attempt, password)),
  );
};

const inLane = <Result>(attempt: SignInAttempt, work: () => Promise<Result>): Promise<Result> =>
  attempt.isKnown && attempt.user
    ? runInKnownLane(attempt.user.shop_id, work)
    : LANES[laneOf(attempt)].run(work);

const signInWith = async (ctx: StaffServices, attempt: SignInAttempt, password: string) => {
  const { user } = attempt;
  await refuseLocked(ctx, attempt);
  if (user && attempt.isKnown) refusePerson(ctx, user.id);
  const isRight = await isPassword(user?.password_hash ?? null, password);
  if (!user || !isRight) throw new ServiceError('SIGN_IN_FAILED');
  await countCode(ctx, attempt);
  return ctx.db.transaction().execute((trx) => openNewSession(ctx, trx, user, attempt));
};
