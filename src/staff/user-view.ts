import type { User } from '../../contract/admin-people.ts';
import type { Actor } from '../../contract/common.ts';
import type { Row } from '../db/schema.ts';
import { instant } from '../instant.ts';

export const viewUser = (user: Row<'users'>): User => ({
  id: user.id,
  email: user.email,
  name: user.name,
  role: user.role,
  createdAt: instant(user.created_at),
  lastSignInAt: user.last_sign_in_at === null ? null : instant(user.last_sign_in_at),
  secondFactor: user.factor_since !== null,
});

/** What the audit log says of a person whom a change is about. */
export const aboutUser = (user: Row<'users'>) => ({
  shopId: user.shop_id,
  subject: { type: 'USER', id: user.id, name: user.email } as const,
});

/** The audit log says no more about a password. */
export const PASSWORD_CHANGED = { passwordChanged: true };

/** The person as somebody who acts. */
export const actorOf = ({ id, name, email }: Pick<Row<'users'>, 'id' | 'name' | 'email'>): Actor => ({
  type: 'USER',
  id,
  name: name ?? email,
});
