import { randomBytes } from 'node:crypto';
import type { CreatedUser, LinkTarget, UseLink } from '../../contract/admin-access.ts';
import type { CreateUser } from '../../contract/admin-people.ts';
import type { SetUp } from '../../contract/admin-set-up.ts';
import { OPERATOR } from '../audit/store.ts';
import type { RateGate, Trx } from '../db/database.ts';
import { findFact, saveFact } from '../db/installation-facts.ts';
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
import { accountMail, LETTERS } from './account-mails.ts';
import { hashPassword, tooManyAtOnce } from './passwords.ts';
import type { SignInOrigin } from './sessions.ts';
import {
  attemptSignIn,
  clearFailures,
  countCode,
  finishSignIn,
  openNewSession,
  recordCounted,
} from './sign-in.ts';
import {
  actorOf,
  addUser,
  auditUser,
  changeAccount,
  endLinksOf,
  findByEmail,
  lockOne,
  lockUser,
  type UserRow,
  updateAccount,
  viewUser,
} from './users.ts';

// One-time links: for the first shop, and with which a person chooses a password (invitations, a forgotten password).

const HOUR_MS = 60 * 60 * 1000;
/** An invitation may wait over a weekend; a link for a forgotten password is asked for to be used at once. */
const VALID_MS = { setUp: HOUR_MS, neverSignedIn: 72 * HOUR_MS, forgotten: HOUR_MS } as const;
/** 256 random bits cannot be guessed, so a plain SHA-256 is enough to store them. */
const TOKEN_BYTES = 32;

interface Link {
  /** The token is in the fragment, which browsers send to no server, so it is in no log. */
  path: `/admin/link#${string}`;
  expiresAt: number;
}

const addLink = async (trx: Trx, { id, last_sign_in_at }: UserRow, nowMs: number): Promise<Link> => {
  const token = randomBytes(TOKEN_BYTES).toString('hex');
  const expiresAt = nowMs + (last_sign_in_at === null ? VALID_MS.neverSignedIn : VALID_MS.forgotten);
  await trx
    .insertInto('access_links')
    .values({ token_hash: sha256(token), user_id: id, expires_at: expiresAt })
    .execute();
  return { path: `/admin/link#${token}`, expiresAt };
};

/** Throws if the link is no longer valid. */
const ownerOf = async ({ db, clock }: Context, token: string) => {
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

/** Mails the link. It leads to PUBLIC_URL: no header of a request decides where a mailed link leads. */
const mailLink = (ctx: Context, shopName: string, user: UserRow, link: Link): void => {
  const kind = user.last_sign_in_at === null ? 'invitation' : 'forgotten';
  ctx.mail.send(accountMail(LETTERS[kind], user, shopName, ctx.config.publicUrl + link.path));
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
  return { link: options.baseUrl + link.path, linkExpiresAt: toIso(link.expiresAt), mailed };
};

export const addPerson = async (
  ctx: Context,
  { shop, actor }: Caller,
  { password, ...person }: CreateUser,
  options: LinkOptions,
): Promise<CreatedUser> => {
  // Until they choose one, their password is random and known to no one.
  const passwordHash = await hashPassword(password ?? randomBytes(32).toString('base64url'));
  const { user, link } = await ctx.db.transaction().execute(async (trx) => {
    const at = ctx.clock.now();
    const user = await addUser(trx, actor, at, { shopId: shop.id, ...person, passwordHash });
    return { user, link: password === null ? await addLink(trx, user, at) : null };
  });
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
export const mailLinkLater = (ctx: Context, email: string, address: string, limits: LinkLimits): void => {
  if (!ctx.mail.isOn) return;
  const work = async (): Promise<void> => {
    const user = await findByEmail(ctx.db, email);
    const shop = user && (await findShop(ctx.db, user.shop_id));
    if (!shop) return;
    const mailed = await limits.mayMail(email);
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

const HOUR_S = 60 * 60;

/** How often callers without a session may try, and how many links are mailed (docs/contract.md). */
export const linkLimits = ({ rateGate, clock }: Context) => {
  const gate = (name: string, points: number, seconds: number) =>
    rateGate([{ name, points, seconds }], clock);
  const links = gate('links-minute', 30, 60);
  const asked = gate('links-asked-hour', 20, HOUR_S);
  const mailed = gate('links-mailed-hour', 3, HOUR_S);
  /** Mails that Admins cause: their shop's name must not become a way to send advertisements. */
  const byShop = gate('links-shop-hour', 100, HOUR_S);
  const sentence = (waitS: number): string =>
    `Too many tries from here: try again in ${waitS < 120 ? 'a minute or two' : 'an hour'}.`;
  const refuseOften = (limit: RateGate) => async (address: string) => {
    const { refused, msBeforeNext } = await limit(address);
    if (refused) throw rateLimited(msBeforeNext, sentence);
  };
  return {
    beforeLink: refuseOften(links),
    beforeAsking: refuseOften(asked),
    /** Beyond it links are created and shown, but not mailed. */
    mayMailForShop: async (shopId: string): Promise<boolean> => !(await byShop(shopId)).refused,
    /** Hashed, so that the counters hold no personal data. */
    mayMail: async (email: string): Promise<boolean> => !(await mailed(sha256(email))).refused,
  };
};
type LinkLimits = ReturnType<typeof linkLimits>;

export const viewLinkTarget = async (ctx: Context, token: string): Promise<LinkTarget> => {
  const { user, shopName } = await ownerOf(ctx, token);
  return {
    shop: { name: shopName },
    user: { email: user.email, name: user.name },
    secondFactor: user.factor_since !== null,
  };
};

/** Sets the password and signs in. A second factor is asked for too: a mailbox alone is not enough. A wrong code leaves the link valid. */
export const choosePassword = async (ctx: Context, from: SignInOrigin, given: UseLink) => {
  const { token: linkToken, password, code } = given;
  const { user, shopName } = await ownerOf(ctx, linkToken);
  return attemptSignIn(ctx, from, { email: user.email, code }, async (attempt) => {
    if (user.factor_since !== null && code === null)
      throw new ServiceError('SECOND_FACTOR_REQUIRED', {
        message: 'A code of your second factor is needed as well.',
      });
    const password_hash = await hashPassword(password);
    await countCode(ctx, attempt);
    const { token } = await changeAccount(ctx, { id: user.shop_id, name: shopName }, async (trx) => {
      // The person's row is locked: of two at once the second finds no link.
      const before = await lockOne(trx, user.id);
      const { numDeletedRows } = await trx
        .deleteFrom('access_links')
        .where('token_hash', '=', sha256(linkToken))
        .where('expires_at', '>', ctx.clock.now())
        .executeTakeFirst();
      if (!before || numDeletedRows === 0n) throw new ServiceError('LINK_EXPIRED');
      const actor = { ...actorOf(before), address: from.address };
      const after = await updateAccount(ctx, trx, before, { password_hash }, { actor, action: 'LINK_USED' });
      // Also what was guessed from other browsers at this address.
      await clearFailures(ctx, trx, { ...attempt, device: null });
      return { before, after, token: await openNewSession(ctx, trx, after, attempt) };
    });
    return finishSignIn(ctx, attempt, token);
  });
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

/** Creates the first shop and its Admin and uses up the token, all or nothing: after a failure the link still works. */
export const setUp = async (ctx: Context, address: string, given: SetUp) => {
  const { token, shopName, email, name, password } = given;
  const actor = { ...OPERATOR, address };
  // Before the expensive hash: a caller without the token causes no work.
  const offer = await findOffer(ctx, token);
  const passwordHash = await hashPassword(password);
  return ctx.db.transaction().execute(async (trx) => {
    // Of two requests at once, the second waits here until the first ends.
    const { numDeletedRows } = await trx
      .deleteFrom('installation')
      .where('name', '=', 'set-up')
      .where('value', '=', offer)
      .executeTakeFirst();
    if (await hasShops(trx)) throw new ServiceError('ALREADY_SET_UP');
    if (numDeletedRows === 0n) throw new ServiceError('SETUP_LINK_INVALID');
    const at = ctx.clock.now();
    const shop = await addShop(trx, actor, at, { name: shopName, plan: 'SCALE' });
    const admin = { shopId: shop.id, email, name, role: 'ADMIN', passwordHash } as const;
    const user = await addUser(trx, actor, at, admin);
    return { shop: { id: shop.id, name: shop.name }, user: { id: user.id, email: user.email } };
  });
};
