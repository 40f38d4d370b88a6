import type { CreatedUser, LinkTarget, UseLink } from '../../contract/admin-access.ts';
import type { CreateUser, GiveLink } from '../../contract/admin-people.ts';
import type { SetUp } from '../../contract/admin-set-up.ts';
import { OPERATOR } from '../audit/store.ts';
import { findFact, saveFact } from '../db/installation-facts.ts';
import type { Trx } from '../db/types.ts';
import { BoundedQueue } from '../lib/bounded-queue.ts';
import { HOUR_MS, toIso } from '../lib/time.ts';
import type { Core } from '../platform/core.ts';
import { invalidField, ServiceError } from '../platform/errors.ts';
import { warning } from '../platform/log.ts';
import { newToken, sha256 } from '../platform/secrets.ts';
import { addShop } from '../shops/actions.ts';
import type { Caller } from '../shops/plans.ts';
import { findShop, hasShops } from '../shops/store.ts';
import { mailLink } from './account-mails.ts';
import { hashNewPassword, newNoPassword, tooManyAtOnce } from './passwords.ts';
import {
  attemptSignIn,
  clearFailures,
  countCode,
  openNewSession,
  recordCounted,
  refusePerson,
} from './sign-in.ts';
import type { Link, SignInOrigin, StaffServices, UserRow } from './types.ts';
import {
  actorOf,
  addUser,
  auditUser,
  changeAccount,
  endLinksOf,
  findByEmail,
  findUser,
  isProviderOnly,
  lockOne,
  lockUser,
  refuseProviderOnly,
  updateAccount,
  updateUser,
  viewUser,
} from './users.ts';

// One-time links: to set up the first shop, and to choose a password (invitations, a forgotten password).

/** An invitation may wait over a weekend, while a link for a forgotten password is used immediately. */
const VALID_MS = { setUp: HOUR_MS, neverSignedIn: 72 * HOUR_MS, forgotten: HOUR_MS } as const;

/** The token is in the fragment of the address. Browsers do not send it to any server, so it is in no log. */
const addLink = async (trx: Trx, user: UserRow, nowMs: number, confirmsEmail = false): Promise<Link> => {
  const token = newToken();
  const expiresAt = nowMs + (user.last_sign_in_at === null ? VALID_MS.neverSignedIn : VALID_MS.forgotten);
  await trx
    .insertInto('access_links')
    .values({
      token_hash: sha256(token),
      user_id: user.id,
      expires_at: expiresAt,
      confirms_email: Number(confirmsEmail),
    })
    .execute();
  return { user, path: `/admin/link#${token}`, expiresAt };
};
const linkOwner = async ({ db, clock }: Core, token: string): Promise<UserRow> => {
  const link = await db
    .selectFrom('access_links')
    .select('user_id')
    .where('token_hash', '=', sha256(token))
    .where('expires_at', '>', clock.now())
    .executeTakeFirst();
  const user = link && (await findUser(db, link.user_id));
  if (!user) throw new ServiceError('LINK_EXPIRED');
  return user;
};

/** Returns what an Admin or the operator sees of a link, and mails it if the service sends mails. */
const showLink = async (ctx: StaffServices, { shop, actor }: Caller, baseUrl: string, link: Link) => {
  const mailed = ctx.mail !== null && (actor.type !== 'USER' || (await ctx.mailLimits.shopLink(shop.id)));
  if (mailed) mailLink(ctx, shop.name, link);
  return { link: baseUrl + link.path, linkExpiresAt: toIso(link.expiresAt), mailed };
};

/** If people sign in without passwords, only the operator creates links. */
const mayMakeLinks = ({ config }: Core, actor: Caller['actor']): boolean =>
  config.passwordSignIn || actor.type !== 'USER';

/** Adds a person. A link in the response leads to `baseUrl`. */
export const addPerson = async (
  ctx: StaffServices,
  caller: Caller,
  { password, ...person }: CreateUser,
  baseUrl = ctx.config.publicUrl,
): Promise<CreatedUser> => {
  const { shop, actor } = caller;
  if (password !== null && !ctx.config.passwordSignIn) throw new ServiceError('PASSWORD_SIGN_IN_OFF');
  await ctx.mailLimits.newEmail(caller);
  const about = { shopName: shop.name, email: person.email };
  const passwordHash =
    password === null ? newNoPassword() : await hashNewPassword('password', password, about);
  const { user, link } = await ctx.db.transaction().execute(async (trx) => {
    const user = await addUser(ctx, trx, actor, { shopId: shop.id, ...person, passwordHash });
    const hasLink = password === null && mayMakeLinks(ctx, actor);
    return { user, link: hasLink ? await addLink(trx, user, ctx.clock.now()) : null };
  });
  const shown = link && (await showLink(ctx, caller, baseUrl, link));
  return { ...viewUser(user), ...(shown ?? { link: null, linkExpiresAt: null, mailed: false }) };
};

/** Creates a link for a person of the shop and invalidates their earlier links. */
export const createLink = async (
  ctx: StaffServices,
  caller: Caller,
  id: string,
  { besideProvider }: GiveLink,
  baseUrl: string,
) => {
  const { shop, actor } = caller;
  if (actor.id === id) throw new ServiceError('OWN_ACCOUNT');
  if (!mayMakeLinks(ctx, actor)) throw new ServiceError('PASSWORD_SIGN_IN_OFF');
  const link = await ctx.db.transaction().execute(async (trx) => {
    const { user } = await lockUser(trx, shop.id, id);
    // Where people sign in without passwords, the link (from the operator) does not set one.
    if (ctx.config.passwordSignIn) refuseProviderOnly(user, besideProvider);
    await endLinksOf(trx, id);
    await auditUser(ctx, trx, user, actor, 'LINK_MADE');
    // An operator who creates the link vouches for the email.
    return addLink(trx, user, ctx.clock.now(), actor.type !== 'USER');
  });
  return showLink(ctx, caller, baseUrl, link);
};

const linkQueue = new BoundedQueue({ atOnce: 2, waiting: 200, withinMs: 10_000, refusal: tooManyAtOnce });

/** Works after the response, whose time must not reveal whether the email is known. Earlier links stay valid, since strangers can ask too. */
export const mailLinkLater = (ctx: StaffServices, email: string, address: string): void => {
  if (!ctx.mail || !ctx.config.passwordSignIn) return;
  const work = async (): Promise<void> => {
    const user = await findByEmail(ctx.db, email);
    const shop = user && (await findShop(ctx.db, user.shop_id));
    if (!shop || isProviderOnly(user)) return;
    const mailed = await ctx.mailLimits.link(sha256(email));
    const link = await ctx.db.transaction().execute(async (trx) => {
      // A link must not confirm an email other than the one to which it is mailed.
      const present = await lockOne(trx, user.id);
      if (present?.email !== user.email || isProviderOnly(present)) return null;
      await recordCounted(ctx, trx, user, { action: 'LINK_ASKED', address });
      return mailed ? addLink(trx, user, ctx.clock.now(), true) : null;
    });
    if (link) mailLink(ctx, shop.name, link);
  };
  linkQueue.run(work).catch(warning(ctx.log, 'a link could not be created'));
};

export const viewLinkTarget = async (ctx: Core, token: string): Promise<LinkTarget> => {
  const user = await linkOwner(ctx, token);
  const shop = await findShop(ctx.db, user.shop_id);
  if (!shop) throw new ServiceError('LINK_EXPIRED');
  return {
    shop: { name: shop.name },
    user: { email: user.email, name: user.name },
    secondFactor: user.factor_since !== null,
  };
};

/**
 * Sets the password and signs in. It also requires the second factor, since a mailbox alone is not enough. After a wrong code the
 * link stays valid.
 */
export const choosePassword = async (ctx: StaffServices, from: SignInOrigin, given: UseLink) => {
  const { token: linkToken, password, code } = given;
  const user = await linkOwner(ctx, linkToken);
  return attemptSignIn(ctx, from, { email: user.email, code, hasLink: true }, async (attempt) => {
    const { passwordSignIn } = ctx.config;
    // This precedes the expensive hash, which waits in the queue of known users.
    refusePerson(ctx, user.id);
    if (user.factor_since !== null && code === null) throw new ServiceError('SECOND_FACTOR_REQUIRED');
    // Where people sign in without passwords, the link (from the operator) signs in once and does not set a password.
    if (passwordSignIn && password === null) throw invalidField('password', 'required', 'is required');
    const about = { shopName: (await findShop(ctx.db, user.shop_id))?.name ?? '', email: user.email };
    const password_hash =
      passwordSignIn && password !== null ? await hashNewPassword('password', password, about) : null;
    await countCode(ctx, attempt);
    const { session } = await changeAccount(ctx, async (trx) => {
      // This locks the person's row: the second of two concurrent requests finds no link.
      const before = await lockOne(trx, user.id);
      const link = await trx
        .deleteFrom('access_links')
        .where('token_hash', '=', sha256(linkToken))
        .where('expires_at', '>', ctx.clock.now())
        .returning('confirms_email')
        .executeTakeFirst();
      if (!before || !link) throw new ServiceError('LINK_EXPIRED');
      if (link.confirms_email) await updateUser(trx, user.id, { email_unconfirmed: 0 });
      await endLinksOf(trx, user.id);
      const actor = { ...actorOf(before), address: from.address };
      const by = { actor, action: 'LINK_USED' } as const;
      const after = password_hash ? await updateAccount(ctx, trx, before, { password_hash }, by) : before;
      if (!password_hash) await auditUser(ctx, trx, before, actor, 'LINK_USED');
      // This includes failures of other browsers at this address.
      await clearFailures(ctx, trx, { ...attempt, device: null });
      return { before, after, session: await openNewSession(ctx, trx, after, attempt) };
    });
    return session;
  });
};

// --- the first shop ---

/** Returns a one-time token that replaces any earlier one, or null if there is a shop. */
export const offerSetUp = async ({ db, clock }: Core): Promise<string | null> => {
  if (await hasShops(db)) return null;
  const token = newToken();
  await saveFact(db, 'set-up', `${sha256(token)} ${clock.now() + VALID_MS.setUp}`);
  return token;
};

/** Returns the stored hash of the token. Throws if there is a shop, the token has expired, or a later start printed another token. */
export const findOffer = async ({ db, clock }: Core, token: string): Promise<string> => {
  if (await hasShops(db)) throw new ServiceError('ALREADY_SET_UP');
  const offer = await findFact(db, 'set-up');
  const [hash, endsAt] = offer?.split(' ') ?? [];
  if (offer === null || hash !== sha256(token) || clock.now() >= Number(endsAt))
    throw new ServiceError('SETUP_LINK_INVALID');
  return offer;
};

/** Creates the first shop and its Admin and consumes the token in one transaction: after a failure the link still works. */
export const setUp = async (ctx: StaffServices, address: string, given: SetUp) => {
  const { token, shopName, email, name, password } = given;
  const actor = { ...OPERATOR, address };
  // This precedes the expensive hash, so that a caller without the token causes no work.
  const offer = await findOffer(ctx, token);
  const passwordHash = ctx.config.passwordSignIn
    ? await hashNewPassword('password', password, { shopName, email })
    : newNoPassword();
  return ctx.db.transaction().execute(async (trx) => {
    // The second of two concurrent requests waits here until the first ends.
    const { numDeletedRows } = await trx
      .deleteFrom('installation')
      .where('name', '=', 'set-up')
      .where('value', '=', offer)
      .executeTakeFirst();
    if (await hasShops(trx)) throw new ServiceError('ALREADY_SET_UP');
    if (numDeletedRows === 0n) throw new ServiceError('SETUP_LINK_INVALID');
    const shop = await addShop(trx, actor, ctx.clock.now(), { name: shopName, plan: 'SCALE' });
    const admin = { shopId: shop.id, email, name, role: 'ADMIN', passwordHash } as const;
    const user = await addUser(ctx, trx, actor, admin);
    return { shop: { id: shop.id, name: shop.name }, user: { id: user.id, email: user.email } };
  });
};
