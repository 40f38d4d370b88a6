import type { NewSecondFactor, RecoveryCodes, SecondFactor } from '../../contract/admin-access.ts';
import type { Actor } from '../../contract/common.ts';
import { recordAudit } from '../audit/store.ts';
import type { Context } from '../context.ts';
import type { Trx } from '../db/database.ts';
import type { Row } from '../db/schema.ts';
import { ServiceError } from '../errors.ts';
import { instant } from '../instant.ts';
import { type Self, WRONG_CODE, wrong } from './own-account.ts';
import {
  countRecoveryCodes,
  newSecret,
  removeFactor,
  replaceRecoveryCodes,
  sealFactor,
  spendAppCode,
} from './second-factor.ts';
import { endOtherSessionsOf, endSessionsOf } from './sessions.ts';
import { findUser, lockOne, lockUser, updateUser } from './store.ts';
import { base32, otpauthUri } from './totp.ts';
import { aboutUser } from './user-view.ts';

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

/** From now on sign-ins ask for a code. Other sessions end: they were opened without one. */
export const confirmFactor = async (ctx: Context, self: Self, code: string): Promise<RecoveryCodes> => {
  const { before, after, recoveryCodes } = await ctx.db.transaction().execute(async (trx) => {
    const before = await lockSelf(trx, self);
    if (before.factor_since !== null) throw new ServiceError('SECOND_FACTOR_ON');
    if (before.factor_secret === null) throw new ServiceError('SECOND_FACTOR_OFF');
    if (!(await spendAppCode(ctx, trx, before, code))) throw wrong('code', WRONG_CODE);
    const after = await updateUser(trx, before.id, { factor_since: ctx.clock.now() });
    await endOtherSessionsOf(trx, before.id, self.sessionToken);
    await audit(ctx, trx, before, self.caller.actor, 'SECOND_FACTOR_ON');
    return { before, after, recoveryCodes: await replaceRecoveryCodes(trx, before.id) };
  });
  await ctx.mailAccountChanges(self.caller.shop, before, after);
  return { recoveryCodes };
};

const lockFactor = async (trx: Trx, self: Self): Promise<Row<'users'>> => {
  const user = await lockSelf(trx, self);
  if (user.factor_since === null) throw new ServiceError('SECOND_FACTOR_OFF');
  return user;
};

export const makeRecoveryCodes = async (ctx: Context, self: Self): Promise<RecoveryCodes> => {
  const { user, recoveryCodes } = await ctx.db.transaction().execute(async (trx) => {
    const user = await lockFactor(trx, self);
    await audit(ctx, trx, user, self.caller.actor, 'RECOVERY_CODES_MADE');
    return { user, recoveryCodes: await replaceRecoveryCodes(trx, user.id) };
  });
  await ctx.mailAccountChanges(self.caller.shop, user, user, true);
  return { recoveryCodes };
};

export const turnFactorOff = async (ctx: Context, self: Self): Promise<void> => {
  const { before, after } = await ctx.db.transaction().execute(async (trx) => {
    const before = await lockFactor(trx, self);
    await audit(ctx, trx, before, self.caller.actor, 'SECOND_FACTOR_OFF');
    return { before, after: await removeFactor(trx, before.id) };
  });
  await ctx.mailAccountChanges(self.caller.shop, before, after);
};

/** For a person who lost their phone and their recovery codes. Signs them out: a thief of the phone may be signed in. */
export const resetFactor = async (
  ctx: Context,
  actor: Actor,
  shop: { id: string; name: string },
  userId: string,
): Promise<void> => {
  const { before, after } = await ctx.db.transaction().execute(async (trx) => {
    const { user: before } = await lockUser(trx, shop.id, userId);
    if (actor.id === userId) throw new ServiceError('OWN_ACCOUNT');
    if (before.factor_secret === null) return { before, after: before };
    const after = await removeFactor(trx, userId);
    await endSessionsOf(trx, userId);
    await audit(ctx, trx, before, actor, 'SECOND_FACTOR_RESET');
    return { before, after };
  });
  await ctx.mailAccountChanges(shop, before, after);
};
