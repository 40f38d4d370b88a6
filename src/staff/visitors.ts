import type { Context } from '../context.ts';
import type { Trx } from '../db/database.ts';
import { ServiceError } from '../errors.ts';
import { attemptInTurn } from './attempts.ts';
import { isAddressOf, isDeviceOf, rememberAddress } from './known-places.ts';
import { clearFailures, countFailure, type Visitor } from './lock-out.ts';
import { updateUser } from './store.ts';

/** Where a sign-in comes from, according to the request. */
export interface Origin {
  address: string;
  /** The browser's cookie from earlier sign-ins. */
  device: string | undefined;
  /** In words, for the person's list of sessions. */
  browser: string | null;
}

/** An id that nobody has, so that an e-mail without an account costs the same queries. */
const NOBODY = '00000000-0000-7000-8000-000000000000';

export const visitorFor = async (
  ctx: Context,
  { address, device }: Origin,
  email: string,
  userId = NOBODY,
): Promise<Visitor> => {
  const hasDevice = isDeviceOf(ctx.secrets, userId, device);
  const isKnown = (await isAddressOf(ctx, userId, address)) || hasDevice;
  return { email, address, hasDevice, isKnown };
};

/** Refusals that are guesses: a right password without its code is none. */
const GUESSES: ReadonlySet<string> = new Set(['SIGN_IN_FAILED', 'SECOND_FACTOR_WRONG']);

/** Runs an attempt to get in, one after another for an e-mail from an address, and counts it where it was a wrong guess. */
export const countingGuesses = <Result>(
  ctx: Context,
  { email, address }: { email: string; address: string },
  attempt: (remember: (visitor: Visitor) => void) => Promise<Result>,
): Promise<Result> =>
  attemptInTurn(email, address, async () => {
    let visitor: Visitor | null = null;
    try {
      return await attempt((found) => {
        visitor = found;
      });
    } catch (error) {
      if (visitor && error instanceof ServiceError && GUESSES.has(error.code))
        await countFailure(ctx, visitor);
      throw error;
    }
  });

/** Writes down that the person got in, from where and when. */
export const letIn = async (ctx: Context, trx: Trx, userId: string, visitor: Visitor): Promise<void> => {
  await updateUser(trx, userId, { last_sign_in_at: ctx.clock.now() });
  await rememberAddress(ctx, trx, userId, visitor.address);
  await clearFailures(trx, visitor);
};
