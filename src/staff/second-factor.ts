import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import type { NewSecondFactor, RecoveryCodes, SecondFactor } from '../../contract/admin-access.ts';
import type { Db, Trx } from '../db/types.ts';
import { toIso } from '../lib/time.ts';
import { invalidField, ServiceError } from '../platform/errors.ts';
import { describeError } from '../platform/log.ts';
import { type SealedFor, type SecretBox, sha256 } from '../platform/secrets.ts';
import type { Caller } from '../shops/plans.ts';
import type { Self, StaffServices, UserRow } from './types.ts';
import {
  actorOf,
  auditUser,
  changeAccount,
  endSessionsOf,
  findUser,
  lockSelf,
  lockUser,
  updateUser,
} from './users.ts';

// The second factor: a code of an authenticator app, or one of ten recovery codes.

// --- codes of authenticator apps: RFC 6238 with SHA-1, six digits, 30 seconds ---

const STEP_MS = 30_000;
const DIGITS = 6;
/** A phone's clock may be slightly wrong, so the codes before and after the current one are accepted, too. */
const STEPS_APART = [-1, 0, 1];

export const timeStepAt = (nowMs: number): number => Math.floor(nowMs / STEP_MS);

/** The code of RFC 4226, with the time step as its counter. */
export const codeAt = (secret: Buffer, step: number): string => {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
};

export const timeStepOf = (secret: Buffer, code: string, nowMs: number): number | null => {
  const steps = STEPS_APART.map((apart) => timeStepAt(nowMs) + apart);
  const hashed = (text: string): Buffer => createHmac('sha256', secret).update(text).digest();
  const given = hashed(code);
  return steps.find((step) => timingSafeEqual(hashed(codeAt(secret, step)), given)) ?? null;
};

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export const base32 = (bytes: Uint8Array): string => {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits.replaceAll(/.{1,5}/g, (five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)] ?? '');
};

export const otpauthUri = (secret: Buffer, account: string): string =>
  `otpauth://totp/Handback:${encodeURIComponent(account)}?secret=${base32(secret)}&issuer=Handback`;

// --- secrets and recovery codes ---

const SECRET_BYTES = 20;

export const factorColumn = (id: string): SealedFor => ({ table: 'users', column: 'factor_secret', id });

export const sealFactor = (secrets: SecretBox, userId: string, secret: Buffer): string =>
  secrets.seal(secret.toString('base64'), factorColumn(userId));

/** Returns null if no key opens the secret. Then codes of the app are wrong, while recovery codes and a reset still work. */
const openFactor = (ctx: StaffServices, { id, factor_secret }: UserRow): Buffer | null => {
  try {
    return factor_secret ? Buffer.from(ctx.secrets.open(factor_secret, factorColumn(id)), 'base64') : null;
  } catch (error) {
    ctx.log.error({ userId: id, error: describeError(error) }, 'a second factor cannot be opened');
    return null;
  }
};

const normalisedCode = (code: string): string => code.replaceAll(/[\s-]/g, '').toLowerCase();

/**
 * Whether the app's code is valid. Each code is valid once, and no older one after it. The person's row must be locked, so that
 * only one of two processes accepts a code.
 */
const spendAppCode = async (ctx: StaffServices, trx: Trx, user: UserRow, given: string): Promise<boolean> => {
  const secret = openFactor(ctx, user);
  const nowMs = ctx.clock.now();
  const step = secret && timeStepOf(secret, normalisedCode(given), nowMs);
  // A time step that is further ahead than any code can be was written by a wrong clock.
  const spent = user.factor_step > timeStepAt(nowMs) + 1 ? 0 : user.factor_step;
  if (step === null || step <= spent) return false;
  await updateUser(trx, user.id, { factor_step: step });
  return true;
};

const spendRecoveryCode = async (
  ctx: StaffServices,
  trx: Trx,
  user: UserRow,
  given: string,
): Promise<boolean> => {
  const { numDeletedRows } = await trx
    .deleteFrom('recovery_codes')
    .where('user_id', '=', user.id)
    .where('code_hash', '=', sha256(normalisedCode(given)))
    .executeTakeFirst();
  if (numDeletedRows === 0n) return false;
  const recoveryCodesLeft = await countRecoveryCodes(trx, user.id);
  await auditUser(ctx, trx, user, actorOf(user), 'RECOVERY_CODE_USED', { recoveryCodesLeft });
  return true;
};

export const spendCode = (ctx: StaffServices, trx: Trx, user: UserRow, given: string): Promise<boolean> =>
  /^\d{6}$/.test(normalisedCode(given))
    ? spendAppCode(ctx, trx, user, given)
    : spendRecoveryCode(ctx, trx, user, given);

/** Throws if the person has a second factor and this code is not valid. */
export const passFactor = async (
  ctx: StaffServices,
  trx: Trx,
  id: string,
  code: string | null,
): Promise<void> => {
  const user = await lockSelf(trx, id);
  if (user.factor_since === null) return;
  if (code === null) throw new ServiceError('SECOND_FACTOR_REQUIRED');
  if (!(await spendCode(ctx, trx, user, code))) throw new ServiceError('SECOND_FACTOR_WRONG');
};

const RECOVERY_CODES = 10;
/** Letters and digits that look alike are left out. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Four groups of four characters are 80 random bits, so a plain hash is enough. */
const newRecoveryCode = (): string => {
  const letters = Array.from({ length: 16 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return letters.replaceAll(/.{4}(?!$)/g, '$&-');
};

export const replaceRecoveryCodes = async (trx: Trx, userId: string): Promise<string[]> => {
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  await forgetRecoveryCodes(trx, userId);
  await trx
    .insertInto('recovery_codes')
    .values(codes.map((code) => ({ user_id: userId, code_hash: sha256(normalisedCode(code)) })))
    .execute();
  return codes;
};

const forgetRecoveryCodes = async (trx: Trx, userId: string): Promise<void> => {
  await trx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
};

const countRecoveryCodes = async (db: Db, userId: string): Promise<number> => {
  const codes = db.selectFrom('recovery_codes').select('code_hash').where('user_id', '=', userId);
  return (await codes.execute()).length;
};

/** The person's row must be locked. */
export const removeFactor = async (trx: Trx, { id, factor_removals }: UserRow): Promise<UserRow> => {
  await forgetRecoveryCodes(trx, id);
  const removed = { factor_secret: null, factor_since: null, factor_step: 0 };
  return updateUser(trx, id, { ...removed, factor_removals: factor_removals + 1 });
};

export const wrongCode = () => invalidField('code', 'wrong', 'is wrong, or it was used before');

export const viewFactor = async (ctx: StaffServices, userId: string): Promise<SecondFactor> => {
  const user = await findUser(ctx.db, userId);
  const since = user?.factor_since ?? null;
  if (since === null) return { isOn: false, since, recoveryCodesLeft: 0 };
  return { isOn: true, since: toIso(since), recoveryCodesLeft: await countRecoveryCodes(ctx.db, userId) };
};

/** Gives the person a secret for their app. Sign-ins require no code until they confirm it with one. */
export const beginFactor = (ctx: StaffServices, self: Self): Promise<NewSecondFactor> =>
  ctx.db.transaction().execute(async (trx) => {
    const user = await lockSelf(trx, self.user.id);
    if (user.factor_since !== null) throw new ServiceError('SECOND_FACTOR_ON');
    const secret = randomBytes(SECRET_BYTES);
    const factor_secret = sealFactor(ctx.secrets, user.id, secret);
    await updateUser(trx, user.id, { factor_secret, factor_step: 0 });
    return { secret: base32(secret), uri: otpauthUri(secret, user.email) };
  });

/** From now on sign-ins require a code. Other sessions end, since they were opened without one. */
export const confirmFactor = async (ctx: StaffServices, self: Self, code: string): Promise<RecoveryCodes> => {
  const { recoveryCodes } = await changeAccount(ctx, async (trx) => {
    const before = await lockSelf(trx, self.user.id);
    if (before.factor_since !== null) throw new ServiceError('SECOND_FACTOR_ON');
    if (before.factor_secret === null) throw new ServiceError('SECOND_FACTOR_OFF');
    if (!(await spendAppCode(ctx, trx, before, code))) throw wrongCode();
    const after = await updateUser(trx, before.id, { factor_since: ctx.clock.now() });
    await endSessionsOf(trx, before.id, self.sessionToken);
    await auditUser(ctx, trx, before, self.caller.actor, 'SECOND_FACTOR_ON');
    return { before, after, recoveryCodes: await replaceRecoveryCodes(trx, before.id) };
  });
  return { recoveryCodes };
};

export const lockFactor = async (trx: Trx, self: Self): Promise<UserRow> => {
  const user = await lockSelf(trx, self.user.id);
  if (user.factor_since === null) throw new ServiceError('SECOND_FACTOR_OFF');
  return user;
};

/** For a person who lost their phone and recovery codes. It ends their sessions, since whoever has the phone may be signed in. */
export const resetFactor = (ctx: StaffServices, { shop, actor }: Caller, userId: string) =>
  changeAccount(ctx, async (trx) => {
    const { user: before } = await lockUser(trx, shop.id, userId);
    if (actor.id === userId) throw new ServiceError('OWN_ACCOUNT');
    if (before.factor_secret === null) return { before, after: before };
    const after = await removeFactor(trx, before);
    await endSessionsOf(trx, userId);
    await auditUser(ctx, trx, before, actor, 'SECOND_FACTOR_RESET');
    return { before, after };
  });
