import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SignedIn } from '../../contract/admin-people.ts';
import { SHOP_COLUMNS } from '../db/schema.ts';
import type { Db, Trx } from '../db/types.ts';
import { newId } from '../lib/ids.ts';
import { DAY_MS, toIso } from '../lib/time.ts';
import type { Config } from '../platform/config.ts';
import type { Core } from '../platform/core.ts';
import { ServiceError } from '../platform/errors.ts';
import { warning } from '../platform/log.ts';
import { newToken, type SecretBox, sha256 } from '../platform/secrets.ts';
import { type Caller, shopFrom } from '../shops/plans.ts';
import type { Self, SignInOrigin, UserRow } from './types.ts';
import { actorOf, findUser, isProviderOnly, lockOne } from './users.ts';

const SESSION_S = 12 * 60 * 60;
/** The limit for one person. A further session ends the one that was unused longest. */
const MOST_SESSIONS = 20;
/** A precision of a minute is enough for people who look for a foreign session, and saves a write per request. */
const SESSION_USE_PRECISION_MS = 60_000;

/** The first match counts: Edge and Opera also call themselves Chrome, and Chrome calls itself Safari. */
const BROWSERS: [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/(Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: [RegExp, string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPod)\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];
/** The name of a client: printable characters up to the first space. */
const CLIENT_NAME = /^[!-~]{1,60}/;

/** "Firefox on Windows", for example; the name that another client gives itself, or null. */
const browserOf = (userAgent = ''): string | null => {
  const nameIn = (table: [RegExp, string][]) => table.find(([pattern]) => pattern.test(userAgent))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (browser) return system ? `${browser} on ${system}` : browser;
  return CLIENT_NAME.exec(userAgent)?.[0] ?? null;
};

/**
 * Throws if the user was removed or their password changed since it was checked. It locks their row, so that a later change ends
 * this session.
 */
export const openSession = async (
  trx: Trx,
  user: UserRow,
  from: SignInOrigin,
  nowMs: number,
  more: { proved_at?: number; through_provider?: 1 } = {},
) => {
  const current = await lockOne(trx, user.id);
  if (current?.password_hash !== user.password_hash) throw new ServiceError('SIGN_IN_FAILED');
  const token = newToken();
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
      browser: browserOf(from.userAgent),
      last_used_at: nowMs,
      ...more,
    })
    .execute();
  await endUnused(trx, user.id, sha256(token));
  return token;
};

/** Ends sessions above the limit, but never the new one: others may have the same time or, from a wrong clock, a later one. */
const endUnused = async (trx: Trx, userId: string, newHash: string): Promise<void> => {
  const others = trx
    .selectFrom('sessions')
    .select('token_hash')
    .where('user_id', '=', userId)
    .where('token_hash', '<>', newHash)
    .orderBy('last_used_at', 'desc')
    .orderBy('id', 'desc');
  await trx
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where('token_hash', '<>', newHash)
    .where('token_hash', 'not in', others.limit(MOST_SESSIONS - 1))
    .execute();
};

/** It runs one query for every request, so signing out, a removal and a new role take effect at once. */
export const findSession = async (ctx: Core, token: string) => {
  if (token === '') return null;
  const row = await ctx.db
    .selectFrom('sessions as session')
    .innerJoin('users as user', 'user.id', 'session.user_id')
    .innerJoin('shops as shop', 'shop.id', 'user.shop_id')
    .select(SHOP_COLUMNS.map((column) => `shop.${column}` as const))
    .select(['user.id as user_id', 'user.email', 'user.name as user_name', 'user.role', 'user.factor_since'])
    .select(['session.proved_at', 'session.last_used_at', 'session.through_provider'])
    .select(['user.password_exposed_at', 'user.password_hash', 'user.provider_subject'])
    .where('session.token_hash', '=', sha256(token))
    .where('session.expires_at', '>', ctx.clock.now())
    .executeTakeFirst();
  if (!row) return null;
  const { user_id: id, email, user_name: name, role, password_exposed_at: exposedAt } = row;
  const secondFactor = row.factor_since !== null;
  const passwordExposedAt = exposedAt === null ? null : toIso(exposedAt);
  const caller: Caller = { shop: shopFrom(row), actor: actorOf({ id, name, email }) };
  const throughProvider = row.through_provider === 1;
  const providerOnly = isProviderOnly(row);
  const user: SignedIn['user'] = {
    id,
    email,
    name,
    role,
    secondFactor,
    throughProvider,
    providerOnly,
    passwordExposedAt,
  };
  return { caller, user, provedAt: row.proved_at, lastUsedAt: row.last_used_at };
};

/** Records where a session was used last, in the background: no request waits for it, and none fails because of it. */
export const recordUse = (ctx: Core, token: string, address: string, lastUsedAt: number): void => {
  const now = ctx.clock.now();
  if (lastUsedAt > now - SESSION_USE_PRECISION_MS) return;
  ctx.background
    .updateTable('sessions')
    .set({ last_used_at: now, address })
    .where('token_hash', '=', sha256(token))
    .where('last_used_at', '=', lastUsedAt)
    .execute()
    .catch(warning(ctx.log, 'could not record the last use of a session'));
};

export const endSession = async (db: Db, token: string): Promise<void> => {
  await db.deleteFrom('sessions').where('token_hash', '=', sha256(token)).execute();
};

export const PROVIDER_COOKIE_S = 10 * 60;

const COOKIES = {
  session: { maxAge: SESSION_S },
  /** It lists the people who signed in with this browser before. It outlives sessions and does not give access. */
  device: { maxAge: 365 * 24 * 60 * 60 },
  /** It must be lax: the browser sends it when it returns from the provider, which is another site. */
  provider: { maxAge: PROVIDER_COOKIE_S, sameSite: 'lax' },
} as const;
type CookieKind = keyof typeof COOKIES;

const isHttps = ({ publicUrl }: Config): boolean => publicUrl.startsWith('https:');

/** Browsers accept a cookie with this prefix over https only, so a page of a sibling host without TLS cannot plant one. */
const cookieName = (config: Config, kind: CookieKind): string =>
  `${isHttps(config) ? '__Secure-' : ''}handback_${kind}`;

export const cookieIn = ({ config }: Core, { cookies }: FastifyRequest, kind: CookieKind): string =>
  cookies[cookieName(config, kind)] ?? '';

/**
 * Sets the cookie; null removes it. Scripts cannot read these cookies, other sites cannot make a browser send them, and only the
 * admin app receives them.
 */
export const sendCookie = (ctx: Core, reply: FastifyReply, kind: CookieKind, value: string | null) => {
  const { config } = ctx;
  const end = value === null ? { maxAge: 0, expires: new Date(0) } : {};
  reply.setCookie(cookieName(config, kind), value ?? '', {
    path: `${config.publicPath}/admin`,
    httpOnly: true,
    sameSite: 'strict',
    secure: isHttps(config),
    ...COOKIES[kind],
    ...end,
  });
};

// --- where people signed in before: browsers, which carry a signed cookie, and addresses, which are kept for 90 days ---

const DEVICE = 'device';
const DEVICE_ID = 'device id';
/** This many people can share a browser, at a till for example. */
const PEOPLE_PER_DEVICE = 8;
const DEVICE_ID_BYTES = 16;
export const ADDRESS_KEPT_MS = 90 * DAY_MS;

/** The cookie contains the browser's random id with our signature, and a signature for each person who signed in with it. */
const readCookie = (secrets: SecretBox, cookie: string) => {
  const [id = '', signature = '', ...signatures] = cookie.split('.');
  if (!secrets.isSigned(DEVICE_ID, id, signature)) return null;
  return { id, signatures: signatures.slice(0, PEOPLE_PER_DEVICE) };
};

/** Returns the id of a browser in which anybody signed in before. */
export const deviceId = (secrets: SecretBox, cookie: string): string | null =>
  readCookie(secrets, cookie)?.id ?? null;

/** It includes the person's password hash and factor, so that changing either ends the trust in every browser (docs/contract.md). */
const signedText = (deviceId: string, user: UserRow): string =>
  JSON.stringify([deviceId, user.id, user.password_hash, user.factor_since, user.factor_removals]);

export const trustedDevice = (secrets: SecretBox, user: UserRow, cookie: string): string | null => {
  const device = readCookie(secrets, cookie);
  if (!device) return null;
  const text = signedText(device.id, user);
  return device.signatures.some((each) => secrets.isSigned(DEVICE, text, each)) ? device.id : null;
};

/** Marks this browser as known for the person. Its cookie does not give access. */
export const trustDevice = async (ctx: Core, reply: FastifyReply, userId: string): Promise<void> => {
  const { db, secrets } = ctx;
  const user = await findUser(db, userId);
  if (!user) return;
  const { id, signatures } = readCookie(secrets, cookieIn(ctx, reply.request, 'device')) ?? {
    id: randomBytes(DEVICE_ID_BYTES).toString('base64url'),
    signatures: [],
  };
  const text = signedText(id, user);
  const [ownId = ''] = secrets.signatures(DEVICE_ID, id);
  const [own = ''] = secrets.signatures(DEVICE, text);
  const others = signatures.filter((each) => !secrets.isSigned(DEVICE, text, each));
  const people = [own, ...others].slice(0, PEOPLE_PER_DEVICE);
  sendCookie(ctx, reply, 'device', [id, ownId, ...people].join('.'));
};

export const viewSignedIn = ({ caller: { shop }, user }: Pick<Self, 'caller' | 'user'>): SignedIn => ({
  user,
  shop: {
    id: shop.id,
    name: shop.name,
    plan: shop.plan,
    subscription: shop.active ? 'active' : 'inactive',
    secondFactorRequired: shop.secondFactorRequired,
  },
});

export const sendSession = async (ctx: Core, reply: FastifyReply, token: string): Promise<SignedIn> => {
  const session = await findSession(ctx, token);
  if (!session) throw new ServiceError('SIGN_IN_FAILED');
  sendCookie(ctx, reply, 'session', token);
  await trustDevice(ctx, reply, session.user.id);
  return viewSignedIn(session);
};

/** Addresses are stored as signatures, so that a copy of the database does not reveal where people are. */
const addressSignatures = ({ secrets }: Core, userId: string, address: string): string[] =>
  secrets.signatures('address', JSON.stringify([userId, address]));

export const isAddressOf = async (ctx: Core, userId: string, address: string): Promise<boolean> => {
  const found = await ctx.db
    .selectFrom('sign_in_addresses')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('address', 'in', addressSignatures(ctx, userId, address))
    .where('seen_at', '>', ctx.clock.now() - ADDRESS_KEPT_MS)
    .executeTakeFirst();
  return found !== undefined;
};

export const rememberAddress = async (ctx: Core, trx: Trx, userId: string, from: string) => {
  const [address = ''] = addressSignatures(ctx, userId, from);
  const seenAt = ctx.clock.now();
  await trx
    .insertInto('sign_in_addresses')
    .values({ user_id: userId, address, seen_at: seenAt })
    .onConflict((conflict) => conflict.columns(['user_id', 'address']).doUpdateSet({ seen_at: seenAt }))
    .execute();
};
