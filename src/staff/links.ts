import { randomBytes } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Trx } from '../db/database.ts';
import { prune } from '../db/prune.ts';
import type { Row } from '../db/schema.ts';
import { sha256 } from '../secrets.ts';

// One-time links with which a person chooses a password.

const HOUR_MS = 60 * 60 * 1000;
/** An invitation may wait over a weekend; a forgotten password is asked for by somebody who is about to use it. */
const VALID_MS = { neverSignedIn: 72 * HOUR_MS, forgotten: HOUR_MS } as const;
/** 256 random bits cannot be guessed, so a plain SHA-256 is enough to store them. */
const TOKEN_BYTES = 32;
const TOKEN = /^[0-9a-f]{64}$/;

export interface Link {
  token: string;
  expiresAt: number;
}

/** Makes a link for a person. Others of theirs stay good. */
export const addLink = async (
  trx: Trx,
  { id, last_sign_in_at }: Pick<Row<'users'>, 'id' | 'last_sign_in_at'>,
  nowMs: number,
): Promise<Link> => {
  const token = randomBytes(TOKEN_BYTES).toString('hex');
  const expiresAt = nowMs + (last_sign_in_at === null ? VALID_MS.neverSignedIn : VALID_MS.forgotten);
  await trx
    .insertInto('access_links')
    .values({ token_hash: sha256(token), user_id: id, expires_at: expiresAt })
    .execute();
  return { token, expiresAt };
};

export const endLinksOf = async (trx: Trx, userId: string): Promise<void> => {
  await trx.deleteFrom('access_links').where('user_id', '=', userId).execute();
};

/** The token stands behind the `#`: browsers send that part to no server, so it reaches no log. */
export const addressOf = (baseUrl: string, { token }: Link): string => `${baseUrl}/admin/link#${token}`;

/** Whose link it is; null where it is not good (any more). */
export const findLink = async (
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  token: string,
): Promise<{ userId: string; shopName: string } | null> => {
  if (!TOKEN.test(token)) return null;
  const row = await db
    .selectFrom('access_links as link')
    .innerJoin('users as user', 'user.id', 'link.user_id')
    .innerJoin('shops as shop', 'shop.id', 'user.shop_id')
    .select(['user.id', 'shop.name'])
    .where('link.token_hash', '=', sha256(token))
    .where('link.expires_at', '>', clock.now())
    .executeTakeFirst();
  return row ? { userId: row.id, shopName: row.name } : null;
};

/** Whether the link was still good. The person's row must be locked: of two at once the second finds nothing. */
export const spendLink = async (trx: Trx, userId: string, token: string, nowMs: number): Promise<boolean> => {
  const { numDeletedRows } = await trx
    .deleteFrom('access_links')
    .where('token_hash', '=', sha256(token))
    .where('user_id', '=', userId)
    .where('expires_at', '>', nowMs)
    .executeTakeFirst();
  return numDeletedRows > 0n;
};

/** Returns true when more may be left. */
export const forgetExpiredLinks = (ctx: Pick<Context, 'background'>, nowMs: number): Promise<boolean> =>
  prune(ctx, { table: 'access_links', by: 'expires_at', upTo: nowMs });
