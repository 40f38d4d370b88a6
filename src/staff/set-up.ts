import { randomBytes } from 'node:crypto';
import type { SetUp } from '../../contract/admin-set-up.ts';
import { OPERATOR } from '../audit/store.ts';
import type { Trx } from '../db/database.ts';
import { findFact, saveFact } from '../db/installation-facts.ts';
import type { Context } from '../service/context.ts';
import { ServiceError } from '../service/errors.ts';
import { sha256 } from '../service/secrets.ts';
import { addShop } from '../shops/actions.ts';
import { hasShops } from '../shops/store.ts';
import { hashPassword } from './passwords.ts';
import { addUser } from './users.ts';

const VALID_MS = 60 * 60 * 1000;

/** A one-time token that replaces any earlier one; null once there is a shop. */
export const offerSetUp = async ({ db, clock }: Context): Promise<string | null> => {
  if (await hasShops(db)) return null;
  const token = randomBytes(24).toString('hex');
  await saveFact(db, 'set-up', `${sha256(token)} ${clock.now() + VALID_MS}`);
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
const useUp = async (trx: Trx, offer: string): Promise<boolean> => {
  const { numDeletedRows } = await trx
    .deleteFrom('installation')
    .where('name', '=', 'set-up')
    .where('value', '=', offer)
    .executeTakeFirst();
  return numDeletedRows > 0n;
};

/** Creates the first shop and its Admin and uses up the token, all or nothing: after a failure the link still works. */
export const setUp = async (
  ctx: Context,
  address: string,
  { token, shopName, email, name, password }: SetUp,
) => {
  const actor = { ...OPERATOR, address };
  // Before the expensive hash: a caller without the token causes no work.
  const offer = await findOffer(ctx, token);
  const passwordHash = await hashPassword(password);
  return ctx.db.transaction().execute(async (trx) => {
    const isOffered = await useUp(trx, offer);
    if (await hasShops(trx)) throw new ServiceError('ALREADY_SET_UP');
    if (!isOffered) throw new ServiceError('SETUP_LINK_INVALID');
    const at = ctx.clock.now();
    const shop = await addShop(trx, actor, at, { name: shopName, plan: 'SCALE' });
    const user = await addUser(trx, actor, at, {
      shopId: shop.id,
      email,
      name,
      role: 'ADMIN',
      passwordHash,
    });
    return { shop: { id: shop.id, name: shop.name }, user: { id: user.id, email: user.email } };
  });
};
