import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Context } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { sha256 } from '../secrets.ts';

/** So many wrong passwords for one e-mail or from one address lock it for so long. */
const FAILURES = 10;
const LOCKED_S = 15 * 60;
/** The count of what is locked: so high that points given back meanwhile cannot open it. */
const LOCKED = 1_000_000;

/** A password about to be checked: it counts as wrong until it is known to be right. */
interface Attempt {
  failed(): Promise<void>;
  succeeded(): Promise<void>;
}

export interface LockOut {
  begin(email: string, address: string): Promise<Attempt>;
}

/**
 * Counts before the check, so that guesses made side by side cannot be more than those made one after another. Whoever
 * is turned away has made no guess and gives the point back.
 */
const take = async (limiter: RateLimiterAbstract, key: string): Promise<number> => {
  const { consumedPoints, msBeforeNext } = await limiter.penalty(key);
  if (consumedPoints <= FAILURES) return consumedPoints;
  await limiter.reward(key);
  throw new ServiceError('LOCKED_OUT', {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(msBeforeNext / 1000))) },
  });
};

export const openLockOut = (ctx: Context): LockOut => {
  const counter = (name: string) => ctx.rateLimiter({ name, points: FAILURES, seconds: LOCKED_S });
  const byEmail = counter('sign-in-email');
  const byAddress = counter('sign-in-address');

  return {
    async begin(email, address) {
      // Hashed: counters are no place for people's addresses, and their keys are short.
      const emailKey = sha256(email);
      const fromAddress = await take(byAddress, address);
      const forEmail = await take(byEmail, emailKey).catch(async (refusal) => {
        await byAddress.reward(address);
        throw refusal;
      });
      return {
        /** The time runs from the last failure, not from the first that was counted. */
        async failed() {
          if (forEmail === FAILURES) await byEmail.set(emailKey, LOCKED, LOCKED_S);
          if (fromAddress === FAILURES) await byAddress.set(address, LOCKED, LOCKED_S);
        },
        async succeeded() {
          await Promise.all([byEmail.delete(emailKey), byAddress.reward(address)]);
        },
      };
    },
  };
};
