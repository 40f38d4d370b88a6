import type { LinkTarget, UseLink } from '../../contract/admin-access.ts';
import { recordAudit } from '../audit/store.ts';
import type { Context } from '../context.ts';
import type { Trx } from '../db/database.ts';
import type { Row } from '../db/schema.ts';
import { ServiceError } from '../errors.ts';
import { endLinksOf, findLink, spendLink } from './links.ts';
import { hashPassword } from './passwords.ts';
import { passFactor } from './second-factor.ts';
import { endSessionsOf, openSession } from './sessions.ts';
import { finishSignIn, type NewSession } from './sign-in.ts';
import {
  attemptSignIn,
  clearFailures,
  countingCodes,
  type Origin,
  recordSignIn,
  type SignInAttempt,
} from './sign-in-attempt.ts';
import { findUser, lockOne, updateUser } from './store.ts';
import { aboutUser, actorOf, PASSWORD_CHANGED } from './user-view.ts';

const ownerOf = async (ctx: Context, token: string): Promise<{ user: Row<'users'>; shopName: string }> => {
  const link = await findLink(ctx, token);
  const user = link && (await findUser(ctx.db, link.userId));
  if (!user) throw new ServiceError('LINK_EXPIRED');
  return { user, shopName: link.shopName };
};

/** Whose link it is, for the page on which they choose a password. */
export const viewLinkTarget = async (ctx: Context, token: string): Promise<LinkTarget> => {
  const { user, shopName } = await ownerOf(ctx, token);
  return {
    shop: { name: shopName },
    user: { email: user.email, name: user.name },
    secondFactor: user.factor_since !== null,
  };
};

/**
 * Sets the password, ends the person's sessions and other links, and signs them in here. A second factor is asked for all the
 * same: a mailbox that was broken into is not enough. A wrong code leaves the link good.
 */
export const choosePassword = async (
  ctx: Context,
  origin: Origin,
  { token: linkToken, password, code }: UseLink,
): Promise<NewSession> => {
  const { user, shopName } = await ownerOf(ctx, linkToken);
  return attemptSignIn(ctx, origin, user.email, async (begin) => {
    const attempt = await begin(user);
    if (user.factor_since !== null && code === null)
      throw new ServiceError('SECOND_FACTOR_REQUIRED', {
        message: 'A code of your second factor is needed as well.',
      });
    const passwordHash = await hashPassword(password);
    const { token, before } = await countingCodes(ctx, attempt, code, () =>
      ctx.db.transaction().execute(async (trx) => {
        const locked = await lockOne(trx, user.id);
        if (!locked || !(await spendLink(trx, user.id, linkToken, ctx.clock.now())))
          throw new ServiceError('LINK_EXPIRED');
        await passFactor(ctx, trx, user.id, code);
        return { token: await setPassword(ctx, trx, locked, passwordHash, attempt), before: locked };
      }),
    );
    const shop = { id: user.shop_id, name: shopName };
    await ctx.mailAccountChanges(shop, before, { ...before, password_hash: passwordHash });
    return finishSignIn(ctx, token);
  });
};

const setPassword = async (
  ctx: Context,
  trx: Trx,
  before: Row<'users'>,
  passwordHash: string,
  attempt: SignInAttempt,
): Promise<string | null> => {
  const at = ctx.clock.now();
  const user = await updateUser(trx, before.id, { password_hash: passwordHash, password_exposed_at: null });
  await endLinksOf(trx, user.id);
  await endSessionsOf(trx, user.id);
  await recordAudit(trx, {
    ...aboutUser(user),
    at,
    actor: { ...actorOf(user), address: attempt.address },
    action: 'LINK_USED',
    data: PASSWORD_CHANGED,
  });
  await recordSignIn(ctx, trx, user, attempt);
  // Also what was guessed from other browsers at this address.
  await clearFailures(ctx, trx, { ...attempt, device: null });
  return openSession(trx, user, attempt, at);
};
