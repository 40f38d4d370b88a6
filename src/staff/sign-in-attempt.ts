import { sql } from 'kysely';
import type { AuditAction } from '../../contract/admin-people.ts';
import { type AuditRecord, recordAudit, updateAuditData } from '../audit/store.ts';
import { UNKNOWN_PERSON } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Trx } from '../db/database.ts';
import { prune } from '../db/prune.ts';
import type { Row } from '../db/tables.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';
import { newId } from '../ids.ts';
import { BoundedQueue } from '../lib/bounded-queue.ts';
import { findShop } from '../shops/store.ts';
import { passwordExposedLetter } from './link-mails.ts';
import { tooManyAtOnce } from './passwords.ts';
import type { UsedFrom } from './sessions.ts';
import { updateUser } from './store.ts';
import { isAddressOf, rememberAddress, type TrustedBy, trustedDevice } from './trusted-devices.ts';
import { aboutUser, actorOf } from './user-view.ts';

// What a sign-in goes through before and after the password: it waits its turn, is refused where too many failed before it, and
// leaves a trace however it ends (contract §16 and §22).

/** Where a sign-in comes from, according to the request. */
export interface Origin extends UsedFrom {
  /** The browser's cookie from earlier sign-ins. */
  device: string | undefined;
}

export interface SignInAttempt extends UsedFrom {
  email: string;
  /** Whose e-mail it is; null where it belongs to no account. */
  user: Row<'users'> | null;
  /** The browser's id, where the person signed in with it before: its failures are counted apart from others at its address. */
  device: string | null;
  /** This browser or this address signed in to this e-mail before. */
  isKnown: boolean;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const TRACE_MS = 15 * MINUTE_MS;

interface Limit {
  failures: number;
  ms: number;
  /** Also for browsers and addresses that signed in before. */
  forAll: boolean;
  /** Whose failures are counted together. */
  keyOf: (attempt: SignInAttempt) => (string | null)[];
}

/** So many wrong passwords lock sign-in. Those of an e-mail or an address lock only strangers: guessing cannot lock out its victim. */
const PASSWORD_LIMITS: Limit[] = [
  {
    failures: 10,
    ms: 15 * MINUTE_MS,
    forAll: true,
    keyOf: ({ email, address, device }) =>
      device ? ['pair', email, 'device', device] : ['pair', email, 'address', address],
  },
  { failures: 100, ms: 15 * MINUTE_MS, forAll: false, keyOf: ({ email }) => ['email', email] },
  { failures: 100, ms: 15 * MINUTE_MS, forAll: false, keyOf: ({ address }) => ['address', address] },
];

/**
 * Wrong codes after a right password: all browsers that are not trusted together, each trusted one by itself. With three of a
 * million codes good at any time, 50 a day find one in 13 years at even odds.
 */
const CODE_LIMITS: Limit[] = [
  {
    failures: 10,
    ms: HOUR_MS,
    forAll: true,
    keyOf: ({ user, device }) => ['codes-hour', user?.id ?? null, device],
  },
  {
    failures: 50,
    ms: 24 * HOUR_MS,
    forAll: true,
    keyOf: ({ user, device }) => ['codes-day', user?.id ?? null, device],
  },
];
/** At this many wrong codes within a day the person is warned that someone knows their password. */
const TOLD_AT = 10;

/** A lock that ends later than its time and this was written by a clock that was wrong. */
const CLOCK_SKEW_MS = MINUTE_MS;

/** Signed, so that trying all addresses or e-mails against a copy of the database finds none. */
const keyFrom = ({ secrets }: Pick<Context, 'secrets'>, parts: (string | null)[]): string =>
  secrets.signatures('sign-in failures', JSON.stringify(parts))[0] ?? '';

/** An id that no user has, so that an e-mail without an account costs the same queries. */
const NO_USER: TrustedBy = {
  id: '00000000-0000-7000-8000-000000000000',
  password_hash: '',
  factor_since: null,
  factor_removals: 0,
};

const readAttempt = async (
  ctx: Context,
  { device: cookie, ...from }: Origin,
  email: string,
  user: Row<'users'> | null,
): Promise<SignInAttempt> => {
  const device = trustedDevice(ctx.secrets, user ?? NO_USER, cookie);
  const isKnown = (await isAddressOf(ctx, (user ?? NO_USER).id, from.address)) || device !== null;
  return { ...from, email, user, device, isKnown };
};

const lockedOut = (what: string, untilMs: number, nowMs: number): ServiceError => {
  const waitS = Math.max(1, Math.ceil((untilMs - nowMs) / 1000));
  const [count, unit] = waitS > 2 * 60 * 60 ? [waitS / 3600, 'hours'] : [waitS / 60, 'minutes'];
  const wait = waitS <= 60 ? 'a minute' : `${Math.ceil(count)} ${unit}`;
  return new ServiceError('LOCKED_OUT', {
    message: `Too many wrong ${what}. Try again in ${wait}.`,
    headers: { 'retry-after': String(waitS) },
  });
};

/** Throws when the caller has to wait. */
export const refuseLocked = async (ctx: Context, attempt: SignInAttempt): Promise<void> => {
  const nowMs = ctx.clock.now();
  const limits = PASSWORD_LIMITS.filter(({ forAll }) => forAll || !attempt.isKnown).map((limit) => ({
    ...limit,
    key: keyFrom(ctx, limit.keyOf(attempt)),
  }));
  const rows = await ctx.db
    .selectFrom('sign_in_failures')
    .select(['key', 'failures', 'expires_at'])
    .where(
      'key',
      'in',
      limits.map(({ key }) => key),
    )
    .where('expires_at', '>', nowMs)
    .execute();
  const locked = limits.flatMap(({ key, failures, ms }) =>
    rows.filter(
      (row) => row.key === key && row.failures >= failures && row.expires_at <= nowMs + ms + CLOCK_SKEW_MS,
    ),
  );
  if (locked.length > 0)
    throw lockedOut('passwords', Math.max(...locked.map((row) => row.expires_at)), nowMs);
};

/** Counts one more; the count that reaches the limit restarts the time, later ones do not extend it. */
const count = (
  trx: Trx | Context['db'],
  nowMs: number,
  {
    key,
    failures: limit,
    ms,
    auditId = null,
  }: { key: string; failures: number; ms: number; auditId?: string | null },
) => {
  const old = sql.ref('sign_in_failures.expires_at');
  const isLive = sql<boolean>`(${old} > ${nowMs} and ${old} <= ${nowMs + ms + CLOCK_SKEW_MS})`;
  const stays = sql<boolean>`(${isLive} and sign_in_failures.failures + 1 <> ${limit})`;
  return trx
    .insertInto('sign_in_failures')
    .values({ key, failures: 1, expires_at: nowMs + ms, audit_id: auditId })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet({
        failures: sql<number>`case when ${isLive} then sign_in_failures.failures + 1 else 1 end`,
        expires_at: sql<number>`case when ${stays} then ${old} else ${nowMs + ms} end`,
        audit_id: sql<
          string | null
        >`case when ${isLive} then sign_in_failures.audit_id else excluded.audit_id end`,
      }),
    )
    .returning(['failures', 'expires_at', 'audit_id'])
    .executeTakeFirstOrThrow();
};

/** Always in the same order, so that two failures at once cannot deadlock. */
const countWrongPassword = async (ctx: Context, trx: Trx, attempt: SignInAttempt): Promise<void> => {
  for (const limit of PASSWORD_LIMITS)
    await count(trx, ctx.clock.now(), { ...limit, key: keyFrom(ctx, limit.keyOf(attempt)) });
};

/**
 * Runs a sign-in that is given a code. The code is counted before it is checked, so that guessing side by side, in however many
 * processes, gains nothing; a right one is taken off again.
 */
export const countingCodes = async <Result>(
  ctx: Context,
  attempt: SignInAttempt,
  code: string | null,
  signIn: () => Promise<Result>,
): Promise<Result> => {
  if (!attempt.user || attempt.user.factor_since === null || code === null) return signIn();
  const nowMs = ctx.clock.now();
  const keys = CODE_LIMITS.map((limit) => keyFrom(ctx, limit.keyOf(attempt)));
  let today = 0;
  for (const [index, limit] of CODE_LIMITS.entries()) {
    const { failures, expires_at } = await count(ctx.db, nowMs, { ...limit, key: keys[index] ?? '' });
    if (failures > limit.failures) throw lockedOut('codes', expires_at, nowMs);
    today = failures;
  }
  try {
    const result = await signIn();
    await ctx.db
      .updateTable('sign_in_failures')
      .set((eb) => ({ failures: eb('failures', '-', 1) }))
      .where('key', 'in', keys)
      .where('failures', '>', 0)
      .execute();
    return result;
  } catch (error) {
    if (codeOf(error) === 'SECOND_FACTOR_WRONG' && today === TOLD_AT)
      await tellPasswordExposed(ctx, attempt.user);
    throw error;
  }
};

/** By mail, and by a notice in the admin app until the password changes. */
const tellPasswordExposed = async (ctx: Context, user: Row<'users'>): Promise<void> => {
  await ctx.db
    .transaction()
    .execute((trx) => updateUser(trx, user.id, { password_exposed_at: ctx.clock.now() }));
  const shop = await findShop(ctx.db, user.shop_id);
  if (!shop) return;
  const link = `${ctx.config.publicUrl}/admin/account`;
  ctx.mail.send(passwordExposedLetter({ to: user.email, name: user.name, shopName: shop.name, link }));
};

const codeOf = (error: unknown): ErrorCode | null => (error instanceof ServiceError ? error.code : null);

/** Refusals that leave a trace. A right password without its code is on its way, and none of them. */
const TRACED: Partial<Record<ErrorCode, { action: AuditAction; line: string }>> = {
  SIGN_IN_FAILED: { action: 'SIGN_IN_REFUSED', line: 'sign-in refused' },
  SECOND_FACTOR_WRONG: { action: 'SIGN_IN_CODE_REFUSED', line: 'sign-in refused: wrong code' },
  LOCKED_OUT: { action: 'SIGN_IN_LOCKED', line: 'sign-in locked' },
};

/** Writes one entry per person, address and kind in 15 minutes; those that follow raise its count. */
export const recordCounted = async (
  ctx: Context,
  trx: Trx,
  user: Row<'users'>,
  { action, address }: { action: AuditAction; address: string },
): Promise<void> => {
  const at = ctx.clock.now();
  const id = newId(at);
  const key = keyFrom(ctx, ['trace', action, user.id, address]);
  const { failures, audit_id } = await count(trx, at, { key, failures: 0, ms: TRACE_MS, auditId: id });
  const data = { count: failures };
  const record: AuditRecord = { ...aboutUser(user), at, actor: { ...UNKNOWN_PERSON, address }, action, data };
  if (audit_id === id || audit_id === null) await recordAudit(trx, record, id);
  else await updateAuditData(trx, audit_id, data);
};

const traceRefusal = async (ctx: Context, attempt: SignInAttempt, error: unknown): Promise<void> => {
  const code = codeOf(error);
  const trace = code && TRACED[code];
  if (!trace) return;
  const { user, address } = attempt;
  ctx.log.warn({ address, userId: user?.id ?? null, shopId: user?.shop_id ?? null }, trace.line);
  if (!user && code !== 'SIGN_IN_FAILED') return;
  await ctx.db.transaction().execute(async (trx) => {
    if (code === 'SIGN_IN_FAILED') await countWrongPassword(ctx, trx, attempt);
    if (user) await recordCounted(ctx, trx, user, { action: trace.action, address });
  });
};

/** A wrong password or code in an open session: someone else may sit there. */
export const traceWrongProof = async (
  ctx: Context,
  user: Row<'users'> | undefined,
  address: string,
): Promise<void> => {
  ctx.log.warn({ address, userId: user?.id ?? null }, 'proof of identity refused');
  if (user)
    await ctx.db
      .transaction()
      .execute((trx) => recordCounted(ctx, trx, user, { action: 'PROOF_REFUSED', address }));
};

const TURNS = { atOnce: 1, waiting: 50, withinMs: 10_000, refusal: tooManyAtOnce };
/** Sign-ins that run, by e-mail and address. */
const queues = new Map<string, { turns: BoundedQueue; users: number }>();

const inTurn = async <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
  const queue = queues.get(key) ?? { turns: new BoundedQueue(TURNS), users: 0 };
  queues.set(key, queue);
  queue.users += 1;
  try {
    return await queue.turns.run(work);
  } finally {
    queue.users -= 1;
    if (queue.users === 0) queues.delete(key);
  }
};

/**
 * Runs sign-ins for one e-mail from one address one after another, so that every failure is counted before the next guess. `begin`
 * says whose e-mail it is; a refusal after that is counted and leaves a trace.
 */
export const attemptSignIn = <Result>(
  ctx: Context,
  origin: Origin,
  email: string,
  work: (begin: (user: Row<'users'> | undefined) => Promise<SignInAttempt>) => Promise<Result>,
): Promise<Result> =>
  inTurn(JSON.stringify([email, origin.address]), async () => {
    let attempt: SignInAttempt | null = null;
    try {
      return await work(async (user) => {
        attempt = await readAttempt(ctx, origin, email, user ?? null);
        return attempt;
      });
    } catch (error) {
      if (attempt) await traceRefusal(ctx, attempt, error);
      throw error;
    }
  });

/** Notes that the person got in, from where and when. A right password clears the failures of the pair. */
export const recordSignIn = async (
  ctx: Context,
  trx: Trx,
  user: Row<'users'>,
  attempt: SignInAttempt,
): Promise<void> => {
  const at = ctx.clock.now();
  await updateUser(trx, user.id, { last_sign_in_at: at });
  await rememberAddress(ctx, trx, user.id, attempt.address);
  await clearFailures(ctx, trx, attempt);
  await recordAudit(trx, {
    ...aboutUser(user),
    at,
    actor: { ...actorOf(user), address: attempt.address },
    action: 'SIGNED_IN',
    data: {},
  });
};

export const clearFailures = async (ctx: Context, trx: Trx, attempt: SignInAttempt): Promise<void> => {
  const [pair] = PASSWORD_LIMITS;
  if (pair)
    await trx
      .deleteFrom('sign_in_failures')
      .where('key', '=', keyFrom(ctx, pair.keyOf(attempt)))
      .execute();
};

/** Returns true when more may be left. */
export const forgetOldFailures = (ctx: Pick<Context, 'withoutFsync'>, nowMs: number): Promise<boolean> =>
  prune(ctx, { table: 'sign_in_failures', by: 'expires_at', upTo: nowMs });
