import type { UserRole } from '../../../contract/admin-people.ts';

/** What a role is called, and what it may do. */
export const ROLE_LABELS: Record<UserRole, { name: string; description: string }> = {
  ADMIN: { name: 'Admin', description: 'Everything: returns, and all of these settings.' },
  STAFF: { name: 'Staff', description: 'Works on returns; sees no settings.' },
};
