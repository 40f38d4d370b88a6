import { randomBytes } from 'node:crypto';
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SignedIn } from '../../contract/admin-people.ts';
import type { Db, Trx } from '../db/database.ts';
import { SHOP_COLUMNS } from '../db/schema.ts';
import { newId } from '../lib/ids.ts';
import { toIso } from '../lib/time.ts';
import type { Config } from '../service/config.ts';
import type { Context } from '../service/context.ts';
import { ServiceError } from '../service/errors.ts';
import { describeError } from '../service/log.ts';
import { type SecretBox, sha256 } from '../service/secrets.ts';
import { type Caller, shopFrom } from '../shops/plans.ts';
import { actorOf, findUser, lockOne, type UserRow } from './users.ts';

const SESSION_S = 12 * 60 * 60;
/** 256 random bits cannot be guessed, so a plain SHA-256 is enough to store them. */
const TOKEN_BYTES = 32;
/** Exact to the minute is enough for people who look for a session that is not theirs, and saves a write per request. */
const LAST_USED_STEP_MS = 60_000;
const TOKEN = /^[0-9a-f]{64}$/;

export type SignedInUser = SignedIn['user'];

export interface Self {
  caller: Caller;
  user: SignedInUser;
  sessionToken: string;
}

/** The token goes into the cookie and nowhere else. */
interface NewSession {
  token: string;
  signedIn: SignedIn;
}

/** Where a request comes from. */
export interface SignInOrigin {
  address: string;
  browser: string | null;
  /** The browser's cookie from earlier sign-ins. */
  deviceCookie: string | undefined;
}

/** Throws if the person is gone, or their password is not the one that was checked. Locks their row: a later change ends this session. */
export const openSession = async (trx: Trx, user: UserRow, from: SignInOrigin, nowMs: number) => {
  const current = await lockOne(trx, user.id);
  if (current?.password_hash !== user.password_hash) throw new ServiceError('SIGN_IN_FAILED');
  const token = randomBytes(TOKEN_BYTES).toString('hex');
  await trx
    .insertInto('sessions')
    .values({
      token_hash: sha256(token),
      id: newId(nowMs),
      user_id: user.id,
      created_at: nowMs,
      expires_at: nowMs + SESSION_S * 1000,
      proved_at: nowMs,
      address: from.address,
      browser: from.browser,
      last_used_at: nowMs,
    })
    .execute();
  return token;
};

/** Read for every request, in one query: signing out, removal and a new role take effect at once. */
export const findSession = async (ctx: Context, token: string) => {
  if (!TOKEN.test(token)) return null;
  const row = await ctx.db
    .selectFrom('sessions as session')
    .innerJoin('users as user', 'user.id', 'session.user_id')
    .innerJoin('shops as shop', 'shop.id', 'user.shop_id')
    .select(SHOP_COLUMNS.map((column) => `shop.${column}` as const))
    .select(['user.id as user_id', 'user.email', 'user.name as user_name', 'user.role', 'user.factor_since'])
    .select(['session.proved_at', 'session.last_used_at', 'user.password_exposed_at'])
    .where('session.token_hash', '=', sha256(token))
    .where('session.expires_at', '>', ctx.clock.now())
    .executeTakeFirst();
  if (!row) return null;
  const { user_id: id, email, user_name: name, role, password_exposed_at: exposedAt } = row;
  const secondFactor = row.factor_since !== null;
  const passwordExposedAt = exposedAt === null ? null : toIso(exposedAt);
  const caller: Caller = { shop: shopFrom(row), actor: actorOf({ id, name, email }) };
  const user: SignedInUser = { id, email, name, role, secondFactor, passwordExposedAt };
  return { caller, user, provedAt: row.proved_at, lastUsedAt: row.last_used_at };
};

/** Records where a session was used last, in the background: no request waits for it, and none fails because of it. */
export const recordUse = (ctx: Context, token: string, address: string, lastUsedAt: number): void => {
  const now = ctx.clock.now();
  if (lastUsedAt > now - LAST_USED_STEP_MS) return;
  ctx.background
    .updateTable('sessions')
    .set({ last_used_at: now, address })
    .where('token_hash', '=', sha256(token))
    .where('last_used_at', '=', lastUsedAt)
    .execute()
    .catch((error) =>
      ctx.log.warn({ error: describeError(error) }, 'could not record the last use of a session'),
    );
};

export const endSession = async (db: Db, token: string): Promise<void> => {
  if (TOKEN.test(token)) await db.deleteFrom('sessions').where('token_hash', '=', sha256(token)).execute();
};

export const SESSION_COOKIE = 'handback_session';
const DEVICE_COOKIE = 'handback_device';
const DEVICE_KEPT_S = 365 * 24 * 60 * 60;

const isHttps = ({ publicUrl }: Config): boolean => publicUrl.startsWith('https:');

/** Browsers take a cookie with this prefix over https alone: a page of a sibling host without TLS cannot plant one. */
const nameOf = (config: Config, name: string): string => (isHttps(config) ? `__Secure-${name}` : name);

/** Scripts cannot read these cookies, other sites cannot make a browser send them, and only the admin app gets them. */
const attributes = (config: Config): CookieSerializeOptions => ({
  path: '/admin',
  httpOnly: true,
  sameSite: 'strict',
  secure: isHttps(config),
});

export const sessionTokenOf = (config: Config, { cookies }: FastifyRequest): string =>
  cookies[nameOf(config, SESSION_COOKIE)] ?? '';

/** Names the people who signed in with this browser before. It outlives sessions, and gives access to nothing. */
export const deviceOf = (config: Config, { cookies }: FastifyRequest): string | undefined =>
  cookies[nameOf(config, DEVICE_COOKIE)];

export const clearSessionCookie = (config: Config, reply: FastifyReply): void => {
  reply.clearCookie(nameOf(config, SESSION_COOKIE), attributes(config));
};

// --- where people signed in before: browsers, which carry a signed cookie, and addresses, which are kept for 90 days ---

const DEVICE = 'device';
const DEVICE_ID = 'device id';
const ADDRESS = 'address';
/** So many people can share a browser, at a till for example. */
const PEOPLE_PER_DEVICE = 8;
const DEVICE_ID_BYTES = 16;
export const ADDRESS_KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** The browser's random id with our signature, and a signature for each person who signed in with it. */
const readCookie = (secrets: SecretBox, cookie = '') => {
  const [id = '', signature = '', ...signatures] = cookie.split('.');
  if (!secrets.isSigned(DEVICE_ID, id, signature)) return null;
  return { id, signatures: signatures.slice(0, PEOPLE_PER_DEVICE) };
};

/** The id of a browser in which a person signed in before, whichever person that was. */
export const deviceId = (secrets: SecretBox, cookie?: string): string | null =>
  readCookie(secrets, cookie)?.id ?? null;

/** With what the person proved there: a new password or another second factor ends the trust in every browser (docs/contract.md). */
const signedText = (deviceId: string, user: UserRow): string =>
  JSON.stringify([deviceId, user.id, user.password_hash, user.factor_since, user.factor_removals]);

export const trustedDevice = (secrets: SecretBox, user: UserRow, cookie?: string): string | null => {
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
  const cookie = [id, ownId, ...people].join('.');
  reply.setCookie(nameOf(config, DEVICE_COOKIE), cookie, { ...attributes(config), maxAge: DEVICE_KEPT_S });
};

/** Sets the cookie of the new session, and the one that identifies this browser at later sign-ins. */
export const sendSession = async (ctx: Context, reply: FastifyReply, { token, signedIn }: NewSession) => {
  const { config } = ctx;
  reply.setCookie(nameOf(config, SESSION_COOKIE), token, { ...attributes(config), maxAge: SESSION_S });
  await trustDevice(ctx, reply, signedIn.user.id);
  return signedIn;
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

export const rememberAddress = async (ctx: Context, trx: Trx, userId: string, from: string) => {
  const [address = ''] = addressSignatures(ctx, userId, from);
  const seenAt = ctx.clock.now();
  await trx
    .insertInto('sign_in_addresses')
    .values({ user_id: userId, address, seen_at: seenAt })
    .onConflict((conflict) => conflict.columns(['user_id', 'address']).doUpdateSet({ seen_at: seenAt }))
    .execute();
};
