import type { Context } from '../context.ts';
import { newId } from '../ids.ts';
import { hashPassword } from './passwords.ts';

export const USER_ROLES = ['ADMIN', 'STAFF'] as const;
export type UserRole = (typeof USER_ROLES)[number];

export interface User {
  id: string;
  shopId: string;
  email: string;
  role: UserRole;
}

/** People sign in with their e-mail alone, so it is unique over all shops, in lower case. */
export const createUser = async (
  ctx: Context,
  { shopId, email, role, password }: { shopId: string; email: string; role: UserRole; password: string },
): Promise<User> => {
  const createdAt = ctx.clock.now();
  const user = { id: newId(createdAt), shopId, email: email.toLowerCase(), role };
  await ctx.db
    .insertInto('users')
    .values({
      id: user.id,
      shop_id: shopId,
      email: user.email,
      role,
      password_hash: await hashPassword(password),
      created_at: createdAt,
    })
    .execute();
  return user;
};
