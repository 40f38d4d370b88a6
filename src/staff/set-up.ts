import { randomBytes } from 'node:crypto';
import type { SetUp } from '../../contract/admin-set-up.ts';
import { OPERATOR } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Db, Trx } from '../db/database.ts';
import { ServiceError } from '../errors.ts';
import { sha256 } from '../secrets.ts';
import { addShop } from '../shops/actions.ts';
import { hasShops } from '../shops/store.ts';
import { hashPassword } from './passwords.ts';
import { addUser } from './users.ts';

/** The row that holds the hash of the one-time token. */
const ROW = 'set-up';

/** Makes a one-time token that replaces any earlier one; returns null once there is a shop. */
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

const isOffered = async (db: Db, token: string): Promise<boolean> =>
  (await db
    .selectFrom('installation')
    .select('name')
    .where('name', '=', ROW)
    .where('value', '=', sha256(token))
    .executeTakeFirst()) !== undefined;

/** Throws once the link was used, or a newer one was printed. */
export const mustBeOffered = async (db: Db, token: string): Promise<void> => {
  if (!(await isOffered(db, token))) throw new ServiceError('SETUP_LINK_INVALID');
};

/** Says whether the token was still valid. Of two requests at once, the second waits here until the first ends. */
const useUp = async (trx: Trx, token: string): Promise<boolean> => {
  const { numDeletedRows } = await trx
    .deleteFrom('installation')
    .where('name', '=', ROW)
    .where('value', '=', sha256(token))
    .executeTakeFirst();
  return numDeletedRows > 0n;
};

/** Creates the first shop and its Admin and uses up the token, all or nothing: after a failure the link still works. */
export const setUp = async (ctx: Context, { token, shopName, email, name, password }: SetUp) => {
  // Before the expensive hash, so that nobody without the token can make us work.
  await mustBeOffered(ctx.db, token);
  const passwordHash = await hashPassword(password);
  return ctx.db.transaction().execute(async (trx) => {
    if (!(await useUp(trx, token)) || (await hasShops(trx))) throw new ServiceError('SETUP_LINK_INVALID');
    const at = ctx.clock.now();
    const shop = await addShop(trx, OPERATOR, at, { name: shopName, plan: 'SCALE' });
    const user = await addUser(trx, OPERATOR, at, {
      shopId: shop.id,
      email,
      name,
      role: 'ADMIN',
      passwordHash,
    });
    return { shop: { id: shop.id, name: shop.name }, user: { id: user.id, email: user.email } };
  });
};
