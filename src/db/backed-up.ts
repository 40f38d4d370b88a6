import type { Tables } from './schema.ts';

type Table = keyof Tables | 'rate_limits';

/** Whether a backup holds a table. Rows are restored in this order, so tables that others refer to come first. */
const TABLES = {
  installation: true,
  shops: true,
  shop_counters: true,
  shop_settings: true,
  dangerous_goods: true,
  target_days: true,
  api_clients: true,
  users: true,
  recovery_codes: true,
  sign_in_addresses: true,
  departed_people: true,
  saved_views: true,
  audit_log: true,
  offline_repairs: true,
  trade_returns: true,
  rma_totals: true,
  timeline: true,
  idempotency_keys: true,
  events: true,
  webhook_deliveries: true,
  // A session that ended and a link that was used must not come back to life.
  sessions: false,
  access_links: false,
  // Counters of the last minutes, or of a day at most.
  sign_in_failures: false,
  // Of running processes, and of the last minute.
  webhook_leases: false,
  rate_limits: false,
} as const satisfies Record<Table, boolean>;

export const ALL_TABLES = Object.keys(TABLES) as Table[];
export const BACKED_UP_TABLES: readonly string[] = ALL_TABLES.filter((name) => TABLES[name]);

/** Every start writes here, so its rows do not mean that the database is in use. */
export const WRITTEN_BY_A_START = 'installation';
