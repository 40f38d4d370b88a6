import type { Context } from '../context.ts';
import type { Trx } from '../db/database.ts';
import { prune } from '../db/prune.ts';
import type { SecretBox } from '../secrets.ts';

// Where people signed in before: browsers, which carry a signed cookie, and addresses, which we keep for a while.

const DEVICE = 'device';
const ADDRESS = 'address';
/** So many people can share a browser, at a till for example. */
const PEOPLE_PER_DEVICE = 8;
const ADDRESS_KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** The browser's new cookie: one signature for each person who signed in with it, the latest first. */
export const deviceWith = (secrets: SecretBox, userId: string, before = ''): string => {
  const others = before.split('.').filter((each) => each && !secrets.isSigned(DEVICE, userId, each));
  const [own = ''] = secrets.signatures(DEVICE, userId);
  return [own, ...others].slice(0, PEOPLE_PER_DEVICE).join('.');
};

export const isDeviceOf = (secrets: SecretBox, userId: string, device = ''): boolean =>
  device
    .split('.')
    .slice(0, PEOPLE_PER_DEVICE)
    .some((each) => secrets.isSigned(DEVICE, userId, each));

/** Addresses are stored as signatures: a copy of the database does not show where people are. */
const keptAddresses = ({ secrets }: Pick<Context, 'secrets'>, userId: string, address: string): string[] =>
  secrets.signatures(ADDRESS, JSON.stringify([userId, address]));

export const isAddressOf = async (ctx: Context, userId: string, address: string): Promise<boolean> => {
  const found = await ctx.db
    .selectFrom('sign_in_addresses')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('address', 'in', keptAddresses(ctx, userId, address))
    .where('seen_at', '>', ctx.clock.now() - ADDRESS_KEPT_MS)
    .executeTakeFirst();
  return found !== undefined;
};

export const rememberAddress = async (
  ctx: Context,
  trx: Trx,
  userId: string,
  address: string,
): Promise<void> => {
  const [kept = ''] = keptAddresses(ctx, userId, address);
  const seenAt = ctx.clock.now();
  await trx
    .insertInto('sign_in_addresses')
    .values({ user_id: userId, address: kept, seen_at: seenAt })
    .onConflict((conflict) => conflict.columns(['user_id', 'address']).doUpdateSet({ seen_at: seenAt }))
    .execute();
};

/** Returns true when more may be left. */
export const forgetOldAddresses = (ctx: Pick<Context, 'withoutFsync'>, nowMs: number): Promise<boolean> =>
  prune(ctx, { table: 'sign_in_addresses', by: 'seen_at', upTo: nowMs - ADDRESS_KEPT_MS });
