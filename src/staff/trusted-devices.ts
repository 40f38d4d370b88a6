import { randomBytes } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { Trx } from '../db/database.ts';
import { prune } from '../db/prune.ts';
import type { Context } from '../service/context.ts';
import type { SecretBox } from '../service/secrets.ts';
import { deviceOf, setDeviceCookie } from './sessions.ts';
import { findUser, type UserRow } from './store.ts';

// Where people signed in before: browsers, which carry a signed cookie, and addresses, which are kept for 90 days.

const DEVICE = 'device';
const DEVICE_ID = 'device id';
const ADDRESS = 'address';
/** So many people can share a browser, at a till for example. */
const PEOPLE_PER_DEVICE = 8;
const DEVICE_ID_BYTES = 16;
const ADDRESS_KEPT_MS = 90 * 24 * 60 * 60 * 1000;

export type TrustedBy = Pick<UserRow, 'id' | 'password_hash' | 'factor_since' | 'factor_removals'>;

/** The browser's random id with our signature, and a signature for each person who signed in with it. */
const readCookie = (secrets: SecretBox, cookie = ''): { id: string; signatures: string[] } | null => {
  const [id = '', signature = '', ...signatures] = cookie.split('.');
  return secrets.isSigned(DEVICE_ID, id, signature)
    ? { id, signatures: signatures.slice(0, PEOPLE_PER_DEVICE) }
    : null;
};

/** The id of a browser in which a person signed in before, whichever person that was. */
export const deviceId = (secrets: SecretBox, cookie?: string): string | null =>
  cookie === undefined ? null : (readCookie(secrets, cookie)?.id ?? null);

/** With what the person proved there: a new password or another second factor ends the trust in every browser (docs/contract.md). */
const signedText = (deviceId: string, user: TrustedBy): string =>
  JSON.stringify([deviceId, user.id, user.password_hash, user.factor_since, user.factor_removals]);

export const trustedDevice = (secrets: SecretBox, user: TrustedBy, cookie?: string): string | null => {
  const device = readCookie(secrets, cookie);
  if (!device) return null;
  const text = signedText(device.id, user);
  return device.signatures.some((each) => secrets.isSigned(DEVICE, text, each)) ? device.id : null;
};

/** From now on this browser is known as one of the person's. Its cookie gives access to nothing. */
export const trustDevice = async (ctx: Context, reply: FastifyReply, userId: string): Promise<void> => {
  const { db, config, secrets } = ctx;
  const user = await findUser(db, userId);
  if (!user) return;
  const { id, signatures } = readCookie(secrets, deviceOf(config, reply.request)) ?? {
    id: randomBytes(DEVICE_ID_BYTES).toString('base64url'),
    signatures: [],
  };
  const text = signedText(id, user);
  const [ownId = ''] = secrets.signatures(DEVICE_ID, id);
  const [own = ''] = secrets.signatures(DEVICE, text);
  const others = signatures.filter((each) => !secrets.isSigned(DEVICE, text, each));
  const people = [own, ...others].slice(0, PEOPLE_PER_DEVICE);
  setDeviceCookie(config, reply, [id, ownId, ...people].join('.'));
};

/** Addresses are stored as signatures: a copy of the database does not show where people are. */
const addressSignatures = ({ secrets }: Context, userId: string, address: string): string[] =>
  secrets.signatures(ADDRESS, JSON.stringify([userId, address]));

export const isAddressOf = async (ctx: Context, userId: string, address: string): Promise<boolean> => {
  const found = await ctx.db
    .selectFrom('sign_in_addresses')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('address', 'in', addressSignatures(ctx, userId, address))
    .where('seen_at', '>', ctx.clock.now() - ADDRESS_KEPT_MS)
    .executeTakeFirst();
  return found !== undefined;
};

export const rememberAddress = async (
  ctx: Context,
  trx: Trx,
  userId: string,
  from: string,
): Promise<void> => {
  const [address = ''] = addressSignatures(ctx, userId, from);
  const seenAt = ctx.clock.now();
  await trx
    .insertInto('sign_in_addresses')
    .values({ user_id: userId, address, seen_at: seenAt })
    .onConflict((conflict) => conflict.columns(['user_id', 'address']).doUpdateSet({ seen_at: seenAt }))
    .execute();
};

export const forgetOldAddresses = (ctx: Context, nowMs: number): Promise<boolean> =>
  prune(ctx, { table: 'sign_in_addresses', by: 'seen_at', upTo: nowMs - ADDRESS_KEPT_MS });
