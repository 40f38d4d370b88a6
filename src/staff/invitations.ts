import { randomBytes } from 'node:crypto';
import type { CreatedUser, NewLink } from '../../contract/admin-access.ts';
import type { CreateUser } from '../../contract/admin-people.ts';
import type { Actor } from '../../contract/common.ts';
import { recordAudit } from '../audit/store.ts';
import type { Context } from '../context.ts';
import type { Row } from '../db/tables.ts';
import { describeError } from '../describe-error.ts';
import { ServiceError } from '../errors.ts';
import { instant } from '../instant.ts';
import { BoundedQueue } from '../lib/bounded-queue.ts';
import { findShop } from '../shops/store.ts';
import { invitation, newPasswordLetter } from './link-mails.ts';
import { addLink, addressOf, endLinksOf, type Link } from './links.ts';
import { hashPassword, tooManyAtOnce } from './passwords.ts';
import { recordCounted } from './sign-in-attempt.ts';
import { findByEmail, lockUser } from './store.ts';
import { aboutUser } from './user-view.ts';
import { addUser, createUser, refuseTakenEmail } from './users.ts';

type ShopName = { id: string; name: string };
type Reader = Pick<Row<'users'>, 'email' | 'name' | 'last_sign_in_at'>;

/** Mails the link. It leads to PUBLIC_URL: no header of a request decides where a mailed link leads. */
const mailLink = (ctx: Context, shopName: string, reader: Reader, link: Link): void => {
  const letter = reader.last_sign_in_at === null ? invitation : newPasswordLetter;
  const { email: to, name } = reader;
  ctx.mail.send(letter({ to, name, shopName, link: addressOf(ctx.config.publicUrl, link) }));
};

/** Where a link that somebody is shown leads, and whether it is mailed too. */
interface HandOver {
  baseUrl: string;
  /** Spends from the budget of mails: asked only where one is about to be sent. */
  mayMail: () => Promise<boolean>;
}

/** Shows the link, and mails it where that is set up. */
const handOver = async (
  ctx: Context,
  { baseUrl, mayMail }: HandOver,
  shopName: string,
  reader: Reader,
  link: Link,
): Promise<NewLink> => {
  const mailed = ctx.mail.isOn && (await mayMail());
  if (mailed) mailLink(ctx, shopName, reader, link);
  return { link: addressOf(baseUrl, link), linkExpiresAt: instant(link.expiresAt), mailed };
};

/** Adds a person: with a password, or with a link by which they choose one. */
export const addPerson = async (
  ctx: Context,
  actor: Actor,
  shop: ShopName,
  { password, ...user }: CreateUser,
  way: HandOver,
): Promise<CreatedUser> => {
  if (password !== null) {
    const made = await createUser(ctx, actor, { shopId: shop.id, password, ...user });
    return { ...made, link: null, linkExpiresAt: null, mailed: false };
  }
  // Until they choose one, their password is one that nobody knows.
  const passwordHash = await hashPassword(randomBytes(32).toString('base64url'));
  const { made, link } = await ctx.db
    .transaction()
    .execute(async (trx) => {
      const at = ctx.clock.now();
      const made = await addUser(trx, actor, at, { shopId: shop.id, ...user, passwordHash });
      return { made, link: await addLink(trx, { id: made.id, last_sign_in_at: null }, at) };
    })
    .catch(refuseTakenEmail);
  return { ...made, ...(await handOver(ctx, way, shop.name, { ...made, last_sign_in_at: null }, link)) };
};

/** A new link for a person of the shop. The links before it end. */
export const makeLink = async (
  ctx: Context,
  actor: Actor,
  shop: ShopName,
  userId: string,
  way: HandOver,
): Promise<NewLink> => {
  if (actor.id === userId) throw new ServiceError('OWN_ACCOUNT');
  const { user, link } = await ctx.db.transaction().execute(async (trx) => {
    const { user } = await lockUser(trx, shop.id, userId);
    const at = ctx.clock.now();
    await endLinksOf(trx, userId);
    await recordAudit(trx, { ...aboutUser(user), at, actor, action: 'LINK_MADE', data: {} });
    return { user, link: await addLink(trx, user, at) };
  });
  return handOver(ctx, way, shop.name, user, link);
};

const askTurns = new BoundedQueue({ atOnce: 2, waiting: 200, withinMs: 10_000, refusal: tooManyAtOnce });

/**
 * Mails a link to whoever has this address, if anybody does. All of it happens after the answer, so that neither the answer nor
 * its time tells whether the address is known. It ends no other link: strangers can ask too.
 */
export const mailLinkLater = (
  ctx: Context,
  {
    email,
    address,
    mayMail,
  }: { email: string; address: string; mayMail: (email: string) => Promise<boolean> },
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
    .catch((error) => ctx.log.warn({ fault: describeError(error) }, 'a link could not be made'));
};
