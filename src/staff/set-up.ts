import { randomBytes } from 'node:crypto';
import type { SetUp } from '../../contract/admin-people.ts';
import { OPERATOR } from '../caller.ts';
import type { Context } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { sha256 } from '../secrets.ts';
import { createShop } from '../shops/actions.ts';
import { hasShops } from '../shops/store.ts';
import { createUser } from './users.ts';

/** Where the hash of the one-time token waits. */
const ROW = 'set-up';

/** A new one-time token while there is no shop yet, in place of any earlier one; null once there is one. */
export const offerSetUp = async ({ db }: Context): Promise<string | null> => {
  if (await hasShops(db)) return null;
  const token = randomBytes(24).toString('hex');
  const value = sha256(token);
  await db
    .insertInto('installation')
    .values({ name: ROW, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
  return token;
};

/** Makes the first shop and its Admin. The token is spent first, so two who hold it cannot both be first. */
export const setUp = async (ctx: Context, { token, shopName, email, password }: SetUp) => {
  const { numDeletedRows } = await ctx.db
    .deleteFrom('installation')
    .where('name', '=', ROW)
    .where('value', '=', sha256(token))
    .executeTakeFirst();
  if (numDeletedRows === 0n || (await hasShops(ctx.db))) throw new ServiceError('SET_UP_OVER');
  const shop = await createShop(ctx, OPERATOR, { name: shopName, plan: 'SCALE' });
  const user = await createUser(ctx, OPERATOR, { shopId: shop.id, email, role: 'ADMIN', password });
  return { shop: { id: shop.id, name: shop.name }, user: { id: user.id, email: user.email } };
};
