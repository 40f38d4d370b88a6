import { randomBytes } from 'node:crypto';
import type { CreatedUser } from '../../contract/admin-access.ts';
import type { CreateUser } from '../../contract/admin-people.ts';
import type { SetUp } from '../../contract/admin-set-up.ts';
import { OPERATOR } from '../audit/store.ts';
import type { RateGate, RateWindows, Trx } from '../db/database.ts';
import { findFact, saveFact } from '../db/installation-facts.ts';
import { prune } from '../db/prune.ts';
import { USER_COLUMNS } from '../db/schema.ts';
import { BoundedQueue } from '../lib/bounded-queue.ts';
import { toIso } from '../lib/time.ts';
import type { Context } from '../service/context.ts';
import { rateLimited, ServiceError } from '../service/errors.ts';
import { describeError } from '../service/log.ts';
import { sha256 } from '../service/secrets.ts';
import { addShop } from '../shops/actions.ts';
import type { Caller } from '../shops/plans.ts';
import { findShop, hasShops } from '../shops/store.ts';
import { linkMail } from './account-mails.ts';
import { hashPassword, tooManyAtOnce } from './passwords.ts';
import { recordCounted } from './sign-in-attempt.ts';
import { auditUser, endLinksOf, findByEmail, lockUser, type UserRow, viewUser } from './store.ts';
import { addUser, refuseTakenEmail } from './users.ts';

// One-time links: for the first shop, and with which a person chooses a password (invitations, a forgotten password).

const HOUR_MS = 60 * 60 * 1000;
/** An invitation may wait over a weekend; a link for a forgotten password is asked for to be used at once. */
const VALID_MS = { setUp: HOUR_MS, neverSignedIn: 72 * HOUR_MS, forgotten: HOUR_MS } as const;
/** 256 random bits cannot be guessed, so a plain SHA-256 is enough to store them. */
const TOKEN_BYTES = 32;

interface Link {
  token: string;
  expiresAt: number;
}

const addLink = async (trx: Trx, { id, last_sign_in_at }: UserRow, nowMs: number): Promise<Link> => {
  const token = randomBytes(TOKEN_BYTES).toString('hex');
  const expiresAt = nowMs + (last_sign_in_at === null ? VALID_MS.neverSignedIn : VALID_MS.forgotten);
  await trx
    .insertInto('access_links')
    .values({ token_hash: sha256(token), user_id: id, expires_at: expiresAt })
    .execute();
  return { token, expiresAt };
};

/** Throws if the link is no longer valid. */
export const ownerOf = async ({ db, clock }: Context, token: string) => {
  const row = await db
    .selectFrom('access_links as link')
    .innerJoin('users as user', 'user.id', 'link.user_id')
    .innerJoin('shops as shop', 'shop.id', 'user.shop_id')
    .select(USER_COLUMNS.map((column) => `user.${column}` as const))
    .select('shop.name as shopName')
    .where('link.token_hash', '=', sha256(token))
    .where('link.expires_at', '>', clock.now())
    .executeTakeFirst();
  if (!row) throw new ServiceError('LINK_EXPIRED');
  const { shopName, ...user } = row;
  return { user, shopName };
};

/** Whether the link was still valid. The person's row must be locked: of two at once the second finds nothing. */
export const spendLink = async (trx: Trx, userId: string, token: string, nowMs: number): Promise<boolean> => {
  const { numDeletedRows } = await trx
    .deleteFrom('access_links')
    .where('token_hash', '=', sha256(token))
    .where('user_id', '=', userId)
    .where('expires_at', '>', nowMs)
    .executeTakeFirst();
  return numDeletedRows > 0n;
};

export const forgetExpiredLinks = (ctx: Context, nowMs: number): Promise<boolean> =>
  prune(ctx, { table: 'access_links', by: 'expires_at', upTo: nowMs });

/** The token is in the fragment, which browsers send to no server, so it is in no log. */
const addressOf = (baseUrl: string, { token }: Link): string => `${baseUrl}/admin/link#${token}`;

/** Mails the link. It leads to PUBLIC_URL: no header of a request decides where a mailed link leads. */
const mailLink = (ctx: Context, shopName: string, user: UserRow, link: Link): void => {
  const kind = user.last_sign_in_at === null ? 'invitation' : 'forgotten';
  ctx.mail.send(linkMail(kind, user, shopName, addressOf(ctx.config.publicUrl, link)));
};

/** Where a link that an Admin is shown leads, and whether it is mailed too. */
interface LinkOptions {
  baseUrl: string;
  /** Spends from the budget of mails: asked only where one is about to be sent. */
  mayMail: () => Promise<boolean>;
}

const showLink = async (ctx: Context, options: LinkOptions, shopName: string, user: UserRow, link: Link) => {
  const mailed = ctx.mail.isOn && (await options.mayMail());
  if (mailed) mailLink(ctx, shopName, user, link);
  return { link: addressOf(options.baseUrl, link), linkExpiresAt: toIso(link.expiresAt), mailed };
};

export const addPerson = async (
  ctx: Context,
  { shop, actor }: Caller,
  { password, ...person }: CreateUser,
  options: LinkOptions,
): Promise<CreatedUser> => {
  // Until they choose one, their password is random and known to no one.
  const passwordHash = await hashPassword(password ?? randomBytes(32).toString('base64url'));
  const { user, link } = await ctx.db
    .transaction()
    .execute(async (trx) => {
      const at = ctx.clock.now();
      const user = await addUser(trx, actor, at, { shopId: shop.id, ...person, passwordHash });
      return { user, link: password === null ? await addLink(trx, user, at) : null };
    })
    .catch(refuseTakenEmail);
  const shown = link && (await showLink(ctx, options, shop.name, user, link));
  return { ...viewUser(user), ...(shown ?? { link: null, linkExpiresAt: null, mailed: false }) };
};

/** A new link for a person of the shop. The links before it end. */
export const createLink = async (ctx: Context, { shop, actor }: Caller, id: string, options: LinkOptions) => {
  if (actor.id === id) throw new ServiceError('OWN_ACCOUNT');
  const { user, link } = await ctx.db.transaction().execute(async (trx) => {
    const { user } = await lockUser(trx, shop.id, id);
    await endLinksOf(trx, id);
    await auditUser(ctx, trx, user, actor, 'LINK_MADE');
    return { user, link: await addLink(trx, user, ctx.clock.now()) };
  });
  return showLink(ctx, options, shop.name, user, link);
};

const askTurns = new BoundedQueue({ atOnce: 2, waiting: 200, withinMs: 10_000, refusal: tooManyAtOnce });

/** Everything happens after the answer, whose time must not show whether the e-mail is known. Ends no other link: strangers can ask too. */
export const mailLinkLater = (
  ctx: Context,
  email: string,
  address: string,
  mayMail: (email: string) => Promise<boolean>,
): void => {
  if (!ctx.mail.isOn) return;
  const work = async (): Promise<void> => {
    const user = await findByEmail(ctx.db, email);
    const shop = user && (await findShop(ctx.db, user.shop_id));
    if (!shop) return;
    const mailed = await mayMail(email);
    const link = await ctx.db.transaction().execute(async (trx) => {
      await recordCounted(ctx, trx, user, { action: 'LINK_ASKED', address });
      return mailed ? addLink(trx, user, ctx.clock.now()) : null;
    });
    if (link) mailLink(ctx, shop.name, user, link);
  };
  askTurns
    .run(work)
    .catch((error) => ctx.log.warn({ error: describeError(error) }, 'a link could not be created'));
};

/** How often callers without a session may try (docs/contract.md). */
const WINDOWS = {
  links: [{ name: 'links-minute', points: 30, seconds: 60 }],
  asked: [{ name: 'links-asked-hour', points: 20, seconds: 60 * 60 }],
  mailed: [{ name: 'links-mailed-hour', points: 3, seconds: 60 * 60 }],
  /** Mails that Admins cause, by shop: their shop's name must not become a way to send advertisements. */
  byShop: [{ name: 'links-shop-hour', points: 100, seconds: 60 * 60 }],
} as const satisfies Record<string, RateWindows>;

export const linkLimits = ({ rateGate, clock }: Context) => {
  const sentence = (waitS: number): string =>
    `Too many tries from here: try again in ${waitS < 120 ? 'a minute or two' : 'an hour'}.`;
  const refuseOften = (gate: RateGate) => async (address: string) => {
    const { refused, msBeforeNext } = await gate(address);
    if (refused) throw rateLimited(msBeforeNext, sentence);
  };
  const mailed = rateGate(WINDOWS.mailed, clock);
  const byShop = rateGate(WINDOWS.byShop, clock);
  return {
    beforeLink: refuseOften(rateGate(WINDOWS.links, clock)),
    beforeAsking: refuseOften(rateGate(WINDOWS.asked, clock)),
    /** Beyond it links are created and shown, but not mailed. */
    mayMailForShop: async (shopId: string): Promise<boolean> => !(await byShop(shopId)).refused,
    /** Hashed, so that the counters hold no personal data. */
    mayMail: async (email: string): Promise<boolean> => !(await mailed(sha256(email))).refused,
  };
};

// --- the first shop ---

/** A one-time token that replaces any earlier one; null once there is a shop. */
export const offerSetUp = async ({ db, clock }: Context): Promise<string | null> => {
  if (await hasShops(db)) return null;
  const token = randomBytes(24).toString('hex');
  await saveFact(db, 'set-up', `${sha256(token)} ${clock.now() + VALID_MS.setUp}`);
  return token;
};

/** What is stored of it. Throws once there is a shop, the token's hour is over, or a later start printed another. */
export const findOffer = async ({ db, clock }: Context, token: string): Promise<string> => {
  if (await hasShops(db)) throw new ServiceError('ALREADY_SET_UP');
  const offer = await findFact(db, 'set-up');
  const [hash, endsAt] = offer?.split(' ') ?? [];
  if (offer === null || hash !== sha256(token) || clock.now() >= Number(endsAt))
    throw new ServiceError('SETUP_LINK_INVALID');
  return offer;
};

/** Says whether the token was still valid. Of two requests at once, the second waits here until the first ends. */
const consumeOffer = async (trx: Trx, offer: string): Promise<boolean> => {
  const { numDeletedRows } = await trx
    .deleteFrom('installation')
    .where('name', '=', 'set-up')
    .where('value', '=', offer)
    .executeTakeFirst();
  return numDeletedRows > 0n;
};

/** Creates the first shop and its Admin and uses up the token, all or nothing: after a failure the link still works. */
export const setUp = async (ctx: Context, address: string, given: SetUp) => {
  const { token, shopName, email, name, password } = given;
  const actor = { ...OPERATOR, address };
  // Before the expensive hash: a caller without the token causes no work.
  const offer = await findOffer(ctx, token);
  const passwordHash = await hashPassword(password);
  return ctx.db.transaction().execute(async (trx) => {
    const isOffered = await consumeOffer(trx, offer);
    if (await hasShops(trx)) throw new ServiceError('ALREADY_SET_UP');
    if (!isOffered) throw new ServiceError('SETUP_LINK_INVALID');
    const at = ctx.clock.now();
    const shop = await addShop(trx, actor, at, { name: shopName, plan: 'SCALE' });
    const admin = { shopId: shop.id, email, name, role: 'ADMIN', passwordHash } as const;
    const user = await addUser(trx, actor, at, admin);
    return { shop: { id: shop.id, name: shop.name }, user: { id: user.id, email: user.email } };
  });
};
