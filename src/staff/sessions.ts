import { randomBytes } from 'node:crypto';
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SignedIn } from '../../contract/admin-people.ts';
import type { Db, Trx } from '../db/database.ts';
import { prune } from '../db/prune.ts';
import { SHOP_COLUMNS } from '../db/schema.ts';
import { newId } from '../lib/ids.ts';
import { toIso } from '../lib/time.ts';
import type { Config } from '../service/config.ts';
import type { Context } from '../service/context.ts';
import { describeError } from '../service/log.ts';
import { sha256 } from '../service/secrets.ts';
import { type Caller, shopFrom } from '../shops/plans.ts';
import { actorOf, lockOne, type UserRow } from './store.ts';

const SESSION_S = 12 * 60 * 60;
/** 256 random bits cannot be guessed, so a plain SHA-256 is enough to store them. */
const TOKEN_BYTES = 32;
/** How often one session may be wrong about the password or a code. The last wrong guess ends it. */
const PASSWORD_GUESSES = 10;
/** Exact to the minute is enough for people who look for a session that is not theirs, and saves a write per request. */
const LAST_USED_STEP_MS = 60_000;
const TOKEN = /^[0-9a-f]{64}$/;

export type SignedInUser = SignedIn['user'];

export interface Self {
  caller: Caller;
  user: SignedInUser;
  sessionToken: string;
}

export interface UsedFrom {
  address: string;
  browser: string | null;
}

/** Null if the person is gone, or their password is not the one that was checked. Locks their row: a later change ends this session. */
export const openSession = async (trx: Trx, user: UserRow, from: UsedFrom, nowMs: number) => {
  const current = await lockOne(trx, user.id);
  if (current?.password_hash !== user.password_hash) return null;
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
  const { user_id: id, email, user_name: name, role, factor_since, password_exposed_at: exposedAt } = row;
  const passwordExposedAt = exposedAt === null ? null : toIso(exposedAt);
  const caller: Caller = { shop: shopFrom(row), actor: actorOf({ id, name, email }) };
  const user: SignedInUser = {
    id,
    email,
    name,
    role,
    secondFactor: factor_since !== null,
    passwordExposedAt,
  };
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

/** Counts a guess before it is checked, so that guessing in parallel gains nothing. Null when the session has ended. */
export const countPasswordGuess = async (db: Db, token: string): Promise<{ wasLast: boolean } | null> => {
  const row = await db
    .updateTable('sessions')
    .set((eb) => ({ wrong_passwords: eb('wrong_passwords', '+', 1) }))
    .where('token_hash', '=', sha256(token))
    .where('wrong_passwords', '<', PASSWORD_GUESSES)
    .returning('wrong_passwords')
    .executeTakeFirst();
  return row ? { wasLast: row.wrong_passwords >= PASSWORD_GUESSES } : null;
};

/** A guess that was right counts as proof for a while, and gives the session its other guesses back. */
export const recordProof = async (trx: Trx, token: string, nowMs: number): Promise<void> => {
  await trx
    .updateTable('sessions')
    .set({ wrong_passwords: 0, proved_at: nowMs })
    .where('token_hash', '=', sha256(token))
    .execute();
};

export const endSessionsOf = async (db: Db, userId: string, exceptToken?: string): Promise<void> => {
  let sessions = db.deleteFrom('sessions').where('user_id', '=', userId);
  if (exceptToken !== undefined) sessions = sessions.where('token_hash', '<>', sha256(exceptToken));
  await sessions.execute();
};

export const forgetExpiredSessions = (ctx: Context, nowMs: number): Promise<boolean> =>
  prune(ctx, { table: 'sessions', by: 'expires_at', upTo: nowMs });

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

export const setSessionCookie = (config: Config, reply: FastifyReply, token: string): void => {
  reply.setCookie(nameOf(config, SESSION_COOKIE), token, { ...attributes(config), maxAge: SESSION_S });
};

export const clearSessionCookie = (config: Config, reply: FastifyReply): void => {
  reply.clearCookie(nameOf(config, SESSION_COOKIE), attributes(config));
};

export const setDeviceCookie = (config: Config, reply: FastifyReply, device: string): void => {
  reply.setCookie(nameOf(config, DEVICE_COOKIE), device, { ...attributes(config), maxAge: DEVICE_KEPT_S });
};
