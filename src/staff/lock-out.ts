import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/database.ts';
import { prune } from '../db/prune.ts';
import { ServiceError } from '../errors.ts';
import { sha256 } from '../secrets.ts';

/**
 * This many wrong passwords or codes lock sign-in for 15 minutes (contract §16, decisions 48 and 105): for the pair of e-mail and
 * address, for the e-mail, or for the address. The last two lock only strangers, so that guessing cannot lock out its victim.
 */
const LIMITS = {
  pair: { failures: 10, forAll: true },
  email: { failures: 100, forAll: false },
  address: { failures: 100, forAll: false },
} as const;
type Counted = keyof typeof LIMITS;
const LOCKED_MS = 15 * 60_000;
/** A lock that ends later than this was written by a clock that was wrong. Failures at once, or of two processes, are less far apart. */
const LATEST_MS = LOCKED_MS + 60_000;

/** Somebody who wants to sign in. */
export interface Visitor {
  email: string;
  address: string;
  /** This browser signed in to this e-mail before: its failures are counted apart from others at its address. */
  hasDevice: boolean;
  /** This browser or this address signed in to this e-mail before. */
  isKnown: boolean;
}

/** Hashed, so that the counters hold no personal data. */
const keysOf = ({ email, address, hasDevice }: Visitor): Record<Counted, string> => {
  const from = hasDevice ? ['device'] : ['address', address];
  return {
    pair: sha256(JSON.stringify(['pair', email, ...from])),
    email: sha256(JSON.stringify(['email', email])),
    address: sha256(JSON.stringify(['address', address])),
  };
};
const eachCounted = Object.keys(LIMITS) as Counted[];

/** Throws when the visitor has to wait. */
export const refuseLocked = async (ctx: Context, visitor: Visitor): Promise<void> => {
  const keys = keysOf(visitor);
  const nowMs = ctx.clock.now();
  const rows = await ctx.db
    .selectFrom('sign_in_failures')
    .select(['key', 'failures', 'expires_at'])
    .where('key', 'in', Object.values(keys))
    .where('expires_at', '>', nowMs)
    // Further ahead than a lock can be: the clock was set back, and the lock no longer counts.
    .where('expires_at', '<=', nowMs + LATEST_MS)
    .execute();
  const locked = eachCounted.flatMap((counted) => {
    const { failures, forAll } = LIMITS[counted];
    const row = rows.find(({ key }) => key === keys[counted]);
    return row && row.failures >= failures && (forAll || !visitor.isKnown) ? [row.expires_at] : [];
  });
  if (locked.length === 0) return;
  const waitS = Math.max(1, Math.ceil((Math.max(...locked) - nowMs) / 1000));
  const minutes = Math.ceil(waitS / 60);
  throw new ServiceError('LOCKED_OUT', {
    message: `Too many wrong passwords or codes. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
    headers: { 'retry-after': String(waitS) },
  });
};

/** The failure that reaches a limit restarts the 15 minutes; later ones do not extend them. */
export const countFailure = async (ctx: Context, visitor: Visitor): Promise<void> => {
  const keys = keysOf(visitor);
  const nowMs = ctx.clock.now();
  const untilMs = nowMs + LOCKED_MS;
  // Always in the same order, so that two failures at once cannot deadlock.
  for (const counted of eachCounted) {
    const limit = LIMITS[counted].failures;
    const old = sql.ref('sign_in_failures.expires_at');
    const isLive = sql<boolean>`(${old} > ${nowMs} and ${old} <= ${nowMs + LATEST_MS})`;
    const failures = sql<number>`case when ${isLive} then sign_in_failures.failures + 1 else 1 end`;
    const stays = sql<boolean>`(${isLive} and sign_in_failures.failures + 1 <> ${limit})`;
    await ctx.db
      .insertInto('sign_in_failures')
      .values({ key: keys[counted], failures: 1, expires_at: untilMs })
      .onConflict((conflict) =>
        conflict.column('key').doUpdateSet({
          failures,
          expires_at: sql<number>`case when ${stays} then ${old} else ${untilMs} end`,
        }),
      )
      .execute();
  }
};

/** A right password clears the failures of the pair. */
export const clearFailures = async (db: Db, visitor: Visitor): Promise<void> => {
  await db.deleteFrom('sign_in_failures').where('key', '=', keysOf(visitor).pair).execute();
};

/** Returns true when more may be left. */
export const forgetOldFailures = (ctx: Pick<Context, 'withoutFsync'>, nowMs: number): Promise<boolean> =>
  prune(ctx, { table: 'sign_in_failures', by: 'expires_at', upTo: nowMs });
