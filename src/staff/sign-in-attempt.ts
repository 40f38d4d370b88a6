import { sql } from 'kysely';
import type { AuditAction } from '../../contract/admin-people.ts';
import { type AuditRecord, recordAudit, UNKNOWN_PERSON, updateAuditData } from '../audit/store.ts';
import type { Db, Trx } from '../db/database.ts';
import { prune } from '../db/prune.ts';
import { BoundedQueue } from '../lib/bounded-queue.ts';
import { newId } from '../lib/ids.ts';
import type { Context } from '../service/context.ts';
import { type ErrorCode, ServiceError } from '../service/errors.ts';
import { findShop } from '../shops/store.ts';
import { linkMail } from './account-mails.ts';
import { tooManyAtOnce } from './passwords.ts';
import type { UsedFrom } from './sessions.ts';
import { aboutUser, actorOf, auditUser, findByEmail, type UserRow, updateUser } from './store.ts';
import { isAddressOf, rememberAddress, type TrustedBy, trustedDevice } from './trusted-devices.ts';

// A sign-in before and after the password: its turn in the queue, lock-out, and its entry in the audit log (docs/contract.md).

export interface SignInOrigin extends UsedFrom {
  /** The browser's cookie from earlier sign-ins. */
  device: string | undefined;
}

export interface SignInAttempt extends UsedFrom {
  email: string;
  user: UserRow | null;
  /** The browser's id, where the person signed in with it before: its failures are counted apart from others at its address. */
  device: string | null;
  /** This browser or this address signed in to this e-mail before. */
  isKnown: boolean;
  /** Wrong codes within a day, with that of this attempt; 0 until it was counted. */
  codesToday: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const TRACE_MS = 15 * MINUTE_MS;

interface Limit {
  failures: number;
  ms: number;
  /** Whose failures are counted together. */
  keyOf: (attempt: SignInAttempt) => (string | null)[];
}

/** Wrong passwords for an e-mail from one known browser, or else from one address. */
const PAIR_LIMIT: Limit = {
  failures: 10,
  ms: 15 * MINUTE_MS,
  keyOf: ({ email, address, device }) =>
    device ? ['pair', email, 'device', device] : ['pair', email, 'address', address],
};
/** The other two lock only browsers and addresses that never signed in to the e-mail: guessing cannot lock out its victim. */
const PASSWORD_LIMITS: Limit[] = [
  PAIR_LIMIT,
  { failures: 100, ms: 15 * MINUTE_MS, keyOf: ({ email }) => ['email', email] },
  { failures: 100, ms: 15 * MINUTE_MS, keyOf: ({ address }) => ['address', address] },
];

/** Wrong codes after a right password; untrusted browsers share a count. Three of a million are valid: 50 a day find one in 13 years at even odds. */
const CODE_LIMITS: Limit[] = [
  { failures: 10, ms: HOUR_MS, keyOf: ({ user, device }) => ['codes-hour', user?.id ?? null, device] },
  { failures: 50, ms: 24 * HOUR_MS, keyOf: ({ user, device }) => ['codes-day', user?.id ?? null, device] },
];
/** At this many wrong codes within a day the person is warned that someone knows their password. */
const WARNED_AT = 10;

/** A lock that ends later than its time and this was written by a clock that was wrong. */
const CLOCK_SKEW_MS = MINUTE_MS;

/** Signed, so that trying all addresses or e-mails against a copy of the database finds none. */
const keyFrom = ({ secrets }: Context, parts: (string | null)[]): string =>
  secrets.signatures('sign-in failures', JSON.stringify(parts))[0] ?? '';

const withKeys = (ctx: Context, limits: Limit[], attempt: SignInAttempt) =>
  limits.map((limit) => ({ ...limit, key: keyFrom(ctx, limit.keyOf(attempt)) }));

/** An id that no user has, so that an e-mail without an account costs the same queries. */
const NO_USER: TrustedBy = {
  id: '00000000-0000-7000-8000-000000000000',
  password_hash: '',
  factor_since: null,
  factor_removals: 0,
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

export const refuseLocked = async (ctx: Context, attempt: SignInAttempt): Promise<void> => {
  const nowMs = ctx.clock.now();
  const limits = withKeys(ctx, attempt.isKnown ? [PAIR_LIMIT] : PASSWORD_LIMITS, attempt);
  const keys = limits.map(({ key }) => key);
  const rows = await ctx.db
    .selectFrom('sign_in_failures')
    .select(['key', 'failures', 'expires_at'])
    .where('key', 'in', keys)
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

type CountedKey = Pick<Limit, 'failures' | 'ms'> & { key: string; auditId?: string };

/** Counts one more; the count that reaches the limit restarts the time, later ones do not extend it. */
const count = (db: Db, nowMs: number, { key, failures: limit, ms, auditId }: CountedKey) => {
  const old = sql.ref('sign_in_failures.expires_at');
  const isLive = sql<boolean>`(${old} > ${nowMs} and ${old} <= ${nowMs + ms + CLOCK_SKEW_MS})`;
  const stays = sql<boolean>`(${isLive} and sign_in_failures.failures + 1 <> ${limit})`;
  return db
    .insertInto('sign_in_failures')
    .values({ key, failures: 1, expires_at: nowMs + ms, audit_id: auditId ?? null })
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

/** Counts a code before it is checked, so that parallel guesses, in any number of processes, gain nothing; see `uncountCode`. */
export const countCode = async (ctx: Context, attempt: SignInAttempt, code: string | null): Promise<void> => {
  if (!attempt.user || attempt.user.factor_since === null || code === null) return;
  const nowMs = ctx.clock.now();
  for (const limit of withKeys(ctx, CODE_LIMITS, attempt)) {
    const { failures, expires_at } = await count(ctx.db, nowMs, limit);
    if (failures > limit.failures) throw lockedOut('codes', expires_at, nowMs);
    attempt.codesToday = failures;
  }
};

export const uncountCode = async (ctx: Context, attempt: SignInAttempt): Promise<void> => {
  if (attempt.codesToday === 0) return;
  const keys = withKeys(ctx, CODE_LIMITS, attempt).map(({ key }) => key);
  await ctx.db
    .updateTable('sign_in_failures')
    .set((eb) => ({ failures: eb('failures', '-', 1) }))
    .where('key', 'in', keys)
    .where('failures', '>', 0)
    .execute();
};

/** By mail, and by a notice in the admin app until the password changes. */
const warnPasswordExposed = async (ctx: Context, user: UserRow): Promise<void> => {
  const exposed = { password_exposed_at: ctx.clock.now() };
  await ctx.db.updateTable('users').set(exposed).where('id', '=', user.id).execute();
  const shop = await findShop(ctx.db, user.shop_id);
  if (shop) ctx.mail.send(linkMail('exposed', user, shop.name, `${ctx.config.publicUrl}/admin/account`));
};

/** Writes one entry per person, address and kind in 15 minutes; those that follow raise its count. */
export const recordCounted = async (
  ctx: Context,
  trx: Trx,
  user: UserRow,
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

/** Refusals that are recorded. A right password without its code is no failure. */
const TRACED: Partial<Record<ErrorCode, { action: AuditAction; line: string }>> = {
  SIGN_IN_FAILED: { action: 'SIGN_IN_REFUSED', line: 'sign-in refused' },
  SECOND_FACTOR_WRONG: { action: 'SIGN_IN_CODE_REFUSED', line: 'sign-in refused: wrong code' },
  LOCKED_OUT: { action: 'SIGN_IN_LOCKED', line: 'sign-in locked' },
};

const recordRefusal = async (ctx: Context, attempt: SignInAttempt, code: ErrorCode): Promise<void> => {
  const { user, address, codesToday } = attempt;
  if (user && code === 'SECOND_FACTOR_WRONG' && codesToday === WARNED_AT)
    await warnPasswordExposed(ctx, user);
  const trace = TRACED[code];
  if (!trace) return;
  ctx.log.warn({ address, userId: user?.id ?? null, shopId: user?.shop_id ?? null }, trace.line);
  if (!user && code !== 'SIGN_IN_FAILED') return;
  await ctx.db.transaction().execute(async (trx) => {
    // Always in the same order, so that two failures at once cannot deadlock.
    if (code === 'SIGN_IN_FAILED')
      for (const limit of withKeys(ctx, PASSWORD_LIMITS, attempt)) await count(trx, ctx.clock.now(), limit);
    if (user) await recordCounted(ctx, trx, user, { action: trace.action, address });
  });
};

const TURNS = { atOnce: 1, waiting: 50, withinMs: 10_000, refusal: tooManyAtOnce };
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

/** Runs attempts for one e-mail from one address one at a time: each failure is counted before the next guess, and recorded. */
export const attemptSignIn = <Result>(
  ctx: Context,
  { device: cookie, ...from }: SignInOrigin,
  email: string,
  steps: (attempt: SignInAttempt) => Promise<Result>,
): Promise<Result> =>
  inTurn(JSON.stringify([email, from.address]), async () => {
    const user = (await findByEmail(ctx.db, email)) ?? null;
    const device = trustedDevice(ctx.secrets, user ?? NO_USER, cookie);
    const isKnown = (await isAddressOf(ctx, (user ?? NO_USER).id, from.address)) || device !== null;
    const attempt: SignInAttempt = { ...from, email, user, device, isKnown, codesToday: 0 };
    try {
      return await steps(attempt);
    } catch (error) {
      if (error instanceof ServiceError) await recordRefusal(ctx, attempt, error.code);
      throw error;
    }
  });

/** Records who signed in, from where and when. A right password clears the failures of the pair. */
export const recordSignIn = async (ctx: Context, trx: Trx, user: UserRow, attempt: SignInAttempt) => {
  await updateUser(trx, user.id, { last_sign_in_at: ctx.clock.now() });
  await rememberAddress(ctx, trx, user.id, attempt.address);
  await clearFailures(ctx, trx, attempt);
  await auditUser(ctx, trx, user, { ...actorOf(user), address: attempt.address }, 'SIGNED_IN');
};

export const clearFailures = async (ctx: Context, trx: Trx, attempt: SignInAttempt): Promise<void> => {
  await trx
    .deleteFrom('sign_in_failures')
    .where('key', '=', keyFrom(ctx, PAIR_LIMIT.keyOf(attempt)))
    .execute();
};

export const forgetOldFailures = (ctx: Context, nowMs: number): Promise<boolean> =>
  prune(ctx, { table: 'sign_in_failures', by: 'expires_at', upTo: nowMs });
