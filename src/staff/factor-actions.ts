import type { NewSecondFactor, ProveSelf, RecoveryCodes, SecondFactor } from '../../contract/admin-access.ts';
import type { Actor } from '../../contract/common.ts';
import { recordAudit } from '../audit/store.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Trx } from '../db/database.ts';
import type { Row } from '../db/tables.ts';
import { ServiceError } from '../errors.ts';
import { instant } from '../instant.ts';
import { isPassword, passwordTurns } from './passwords.ts';
import {
  countRecoveryCodes,
  newSecret,
  removeFactor,
  replaceRecoveryCodes,
  sealFactor,
  spendAppCode,
  spendCode,
} from './second-factor.ts';
import {
  countPasswordGuess,
  endOtherSessionsOf,
  endSession,
  endSessionsOf,
  forgetGuesses,
} from './sessions.ts';
import { findUser, lockOne, lockUser, updateUser } from './store.ts';
import { base32, otpauthUri } from './totp.ts';
import { aboutUser } from './user-view.ts';

/** The person who is signed in, and their session. */
export interface Self {
  caller: Caller;
  user: { id: string };
  sessionToken: string | undefined;
}

const ISSUER = 'Handback';

export const viewFactor = async (ctx: Context, userId: string): Promise<SecondFactor> => {
  const user = await findUser(ctx.db, userId);
  const since = user?.factor_since ?? null;
  return {
    isOn: since !== null,
    since: since === null ? null : instant(since),
    recoveryCodesLeft: since === null ? 0 : await countRecoveryCodes(ctx.db, userId),
  };
};

const lockSelf = async (trx: Trx, { user }: Self): Promise<Row<'users'>> => {
  const row = await lockOne(trx, user.id);
  if (!row) throw new ServiceError('SIGNED_OUT');
  return row;
};

const audit = (ctx: Context, trx: Trx, user: Row<'users'>, actor: Actor, action: FactorAction) =>
  recordAudit(trx, { ...aboutUser(user), at: ctx.clock.now(), actor, action, data: {} });
type FactorAction = 'SECOND_FACTOR_ON' | 'SECOND_FACTOR_OFF' | 'SECOND_FACTOR_RESET' | 'RECOVERY_CODES_MADE';

/** Gives the person a secret for their app. Nothing is asked for at sign-in until they confirm it with a code. */
export const beginFactor = (ctx: Context, self: Self): Promise<NewSecondFactor> =>
  ctx.db.transaction().execute(async (trx) => {
    const user = await lockSelf(trx, self);
    if (user.factor_since !== null) throw new ServiceError('SECOND_FACTOR_ON');
    const secret = newSecret();
    await updateUser(trx, user.id, {
      factor_secret: sealFactor(ctx.secrets, user.id, secret),
      factor_step: 0,
    });
    return { secret: base32(secret), uri: otpauthUri(secret, ISSUER, user.email) };
  });

const wrong = (field: string, message: string): ServiceError =>
  new ServiceError('VALIDATION_FAILED', {
    faults: [{ field, rule: 'wrong', message: `${field} ${message}` }],
  });
const WRONG_CODE = 'is wrong, or it was used before';

/** From now on sign-ins ask for a code. Other sessions end: they were opened without one. */
export const confirmFactor = (ctx: Context, self: Self, code: string): Promise<RecoveryCodes> =>
  ctx.db.transaction().execute(async (trx) => {
    const user = await lockSelf(trx, self);
    if (user.factor_since !== null) throw new ServiceError('SECOND_FACTOR_ON');
    if (user.factor_secret === null) throw new ServiceError('SECOND_FACTOR_OFF');
    if (!(await spendAppCode(ctx, trx, user, code))) throw wrong('code', WRONG_CODE);
    await updateUser(trx, user.id, { factor_since: ctx.clock.now() });
    await endOtherSessionsOf(trx, user.id, self.sessionToken);
    await audit(ctx, trx, user, self.caller.actor, 'SECOND_FACTOR_ON');
    return { recoveryCodes: await replaceRecoveryCodes(trx, user.id) };
  });

/**
 * Does something for which an open session is not enough. A session may be wrong ten times and ends with the tenth, as with its
 * current password; guesses are counted before they are checked.
 */
const withProof = async <Result>(
  ctx: Context,
  self: Self,
  { currentPassword, code }: ProveSelf,
  work: (trx: Trx, user: Row<'users'>) => Promise<Result>,
): Promise<Result> => {
  const guess = await countPasswordGuess(ctx.db, self.sessionToken);
  if (!guess) throw new ServiceError('SIGNED_OUT');
  const before = await findUser(ctx.db, self.user.id);
  const passwordHash = before?.password_hash ?? null;
  const isRight =
    currentPassword !== null && (await passwordTurns.run(() => isPassword(passwordHash, currentPassword)));
  const result = await ctx.db.transaction().execute(async (trx) => {
    const user = await lockSelf(trx, self);
    if (user.factor_since === null) throw new ServiceError('SECOND_FACTOR_OFF');
    const isProven =
      (isRight && user.password_hash === passwordHash) ||
      (code !== null && (await spendCode(ctx, trx, user, code)));
    if (!isProven) return null;
    await forgetGuesses(trx, self.sessionToken);
    return { done: await work(trx, user) };
  });
  if (result) return result.done;
  if (guess.wasLast) await endSession(ctx.db, self.sessionToken);
  throw code === null ? wrong('currentPassword', 'is not your current password') : wrong('code', WRONG_CODE);
};

export const makeRecoveryCodes = (ctx: Context, self: Self, proof: ProveSelf): Promise<RecoveryCodes> =>
  withProof(ctx, self, proof, async (trx, user) => {
    await audit(ctx, trx, user, self.caller.actor, 'RECOVERY_CODES_MADE');
    return { recoveryCodes: await replaceRecoveryCodes(trx, user.id) };
  });

export const turnFactorOff = (ctx: Context, self: Self, proof: ProveSelf): Promise<void> =>
  withProof(ctx, self, proof, async (trx, user) => {
    await removeFactor(trx, user.id);
    await audit(ctx, trx, user, self.caller.actor, 'SECOND_FACTOR_OFF');
  });

/** For a person who lost their phone and their recovery codes. Signs them out: whoever has the phone may be signed in. */
export const resetFactor = (ctx: Context, actor: Actor, shopId: string, userId: string): Promise<void> =>
  ctx.db.transaction().execute(async (trx) => {
    const { user } = await lockUser(trx, shopId, userId);
    // An open session is not enough to turn one's own off, also for an Admin.
    if (actor.id === userId) throw new ServiceError('OWN_SECOND_FACTOR');
    if (user.factor_secret === null) return;
    await removeFactor(trx, userId);
    await endSessionsOf(trx, userId);
    await audit(ctx, trx, user, actor, 'SECOND_FACTOR_RESET');
  });
