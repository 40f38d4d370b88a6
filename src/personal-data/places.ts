import { ERASED_EMAIL, ERASED_TEXT } from '../../contract/personal-data.ts';
import type { ReturnTable, Row, Tables } from '../db/schema.ts';
import { withExactNumbers } from '../lib/json.ts';

// Every text that the database holds, and what becomes of it when a person is erased. Finding, exporting, erasing, a test and
// docs/privacy.md go by this list; a column that is missing here does not compile.

export const FATES = {
  text: `becomes \`${ERASED_TEXT}\``,
  email: `becomes \`${ERASED_EMAIL}\``,
  none: 'becomes `null`',
  address: `each of its parts becomes \`${ERASED_TEXT}\``,
  rebuilt: 'is made anew from what is left',
  cleaned: 'loses what the columns of the return lose',
  search: `becomes \`${ERASED_TEXT}\` where it names the customer`,
  employee: `becomes \`${ERASED_TEXT}\` when the former employee is erased`,
  account: 'is deleted with the account of the employee',
  short: 'is deleted after a time',
  kept: 'stays: it names no customer, or the shop needs it for its records',
} as const;
export type Fate = keyof typeof FATES;

/** Columns that hold any text: not those with a few fixed values. */
type TextColumn<Table extends keyof Tables> = {
  [Column in keyof Row<Table>]: string extends NonNullable<Row<Table>[Column]> ? Column : never;
}[keyof Row<Table>] &
  string;

type Places = { [Table in keyof Tables]: Record<TextColumn<Table>, Fate> };

const each = <Column extends string>(fate: Fate, ...columns: Column[]): Record<Column, Fate> =>
  Object.fromEntries(columns.map((column) => [column, fate])) as Record<Column, Fate>;

const OF_BOTH = {
  ...each('text', 'customer_name'),
  ...each('email', 'customer_email'),
  ...each('none', 'customer_phone'),
  ...each('rebuilt', 'search_text'),
  ...each('kept', 'id', 'shop_id', 'client_id', 'assignee_id', 'external_ref', 'external_source'),
};

export const PLACES: Places = {
  offline_repairs: {
    ...OF_BOTH,
    ...each('text', 'fault_description'),
    ...each('none', 'notes', 'repair_notes', 'tracking_number'),
    ...each('kept', 'order_number', 'store_id', 'replacement_sku', 'faulty_item', 'serial_number'),
    ...each('kept', 'carrier_name', 'assigned_to_id'),
  },
  trade_returns: {
    ...OF_BOTH,
    ...each('text', 'reason'),
    ...each('none', 'customer_notes', 'fault_description', 'additional_comment'),
    ...each('address', 'shipping_address'),
    ...each('kept', 'trade_order_number', 'company_id', 'company_name', 'items', 'order_date'),
    ...each('kept', 'receipts', 'credit_amount'),
  },
  timeline: {
    ...each('none', 'note'),
    ...each('cleaned', 'data'),
    ...each('employee', 'actor_name'),
    ...each('kept', 'rma_id', 'id', 'actor_id', 'from_status', 'to_status'),
  },
  events: { ...each('cleaned', 'body'), ...each('kept', 'shop_id', 'id', 'rma_id') },
  idempotency_keys: {
    ...each('cleaned', 'answer'),
    ...each('short', 'key', 'body_hash'),
    ...each('kept', 'client_id'),
  },
  saved_views: { ...each('search', 'name', 'search'), ...each('kept', 'id', 'shop_id', 'user_id') },
  audit_log: {
    ...each('employee', 'actor_name', 'subject_name', 'data'),
    ...each('short', 'address'),
    ...each('kept', 'id', 'shop_id', 'subject_id', 'actor_id'),
  },
  // The body of a test alone: others are in the event log.
  webhook_deliveries: {
    ...each('short', 'body', 'attempt_log', 'reason'),
    ...each('kept', 'id', 'rma_id', 'client_id'),
  },
  users: each('account', 'id', 'shop_id', 'email', 'password_hash', 'name', 'factor_secret'),
  sessions: each('account', 'token_hash', 'id', 'user_id', 'browser', 'address'),
  sign_in_addresses: each('account', 'user_id', 'address'),
  access_links: each('account', 'token_hash', 'user_id'),
  recovery_codes: each('account', 'user_id', 'code_hash'),
  sign_in_failures: each('short', 'key', 'audit_id'),
  rate_limits: each('short', 'key'),
  departed_people: each('short', 'user_id', 'shop_id'),
  shops: each('kept', 'id', 'name', 'plan', 'subscription', 'billing'),
  shop_counters: each('kept', 'shop_id', 'month'),
  shop_settings: {
    ...each('kept', 'shop_id', 'address', 'name', 'phone', 'email', 'currency', 'time_zone'),
    ...each('kept', 'slip_text', 'logo'),
  },
  dangerous_goods: each('kept', 'shop_id', 'pattern'),
  api_clients: {
    ...each('kept', 'id', 'shop_id', 'key_hash', 'name', 'webhook_secret', 'webhook_url', 'replaced_by'),
    ...each('kept', 'rights', 'events'),
  },
  rma_totals: each('kept', 'shop_id', 'status'),
  target_days: each('kept', 'shop_id', 'status'),
  forget_rules: each('kept', 'shop_id'),
  erasures: each('kept', 'subject_id', 'shop_id', 'done_to'),
  webhook_leases: each('kept', 'client_id', 'holder'),
  webhook_failures: each('kept', 'client_id', 'last_error'),
  installation: each('kept', 'name', 'value'),
};

// --- what an erased return holds ---

const ERASED_ADDRESS = {
  street: ERASED_TEXT,
  suburb: ERASED_TEXT,
  state: ERASED_TEXT,
  postcode: ERASED_TEXT,
};

const VALUES: Partial<Record<Fate, string | object | null>> = {
  text: ERASED_TEXT,
  email: ERASED_EMAIL,
  none: null,
  address: ERASED_ADDRESS,
};

const fieldOf = (column: string): string =>
  column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const erasedIn = (table: ReturnTable): [column: string, value: string | object | null][] =>
  Object.entries(PLACES[table]).flatMap(([column, fate]) => {
    const value = VALUES[fate];
    return value === undefined ? [] : [[column, value]];
  });

/** The columns that lose the customer, as they are then. */
export const erasedColumns = (table: ReturnTable): Record<string, string | null> =>
  Object.fromEntries(
    erasedIn(table).map(([column, value]) => [
      column,
      typeof value === 'string' || value === null ? value : JSON.stringify(value),
    ]),
  );

/** The same by the names that answers, events and timelines use. */
const FIELDS = {
  offline_repairs: new Map(erasedIn('offline_repairs').map(([column, value]) => [fieldOf(column), value])),
  trade_returns: new Map(erasedIn('trade_returns').map(([column, value]) => [fieldOf(column), value])),
};

/** A damaged text loses everything: the customer may be in it. */
const rewritten = (text: string, rewrite: (value: Record<string, unknown>) => object): string => {
  try {
    return JSON.stringify(rewrite(JSON.parse(text, withExactNumbers)));
  } catch {
    return '{}';
  }
};

/** A whole return as an answer or an event holds it, or the few fields of an event, in which a tracking number is never null. */
const cleanFields = (table: ReturnTable, data: Record<string, unknown>, erasedAt: string): object => {
  const isWhole = 'createdAt' in data;
  const fields = Object.entries(data).map(([name, value]) => {
    const erased = FIELDS[table].get(name);
    if (erased === undefined || value === null) return [name, value];
    return [name, erased ?? (isWhole ? null : ERASED_TEXT)];
  });
  return { ...Object.fromEntries(fields), ...(isWhole ? { erasedAt } : {}) };
};

export const cleanAnswer = (table: ReturnTable, answer: string, erasedAt: string): string =>
  rewritten(answer, (body) => cleanFields(table, body, erasedAt));

export const cleanEvent = (table: ReturnTable, body: string, erasedAt: string): string =>
  rewritten(body, ({ data, ...rest }) => ({
    ...rest,
    data: cleanFields(table, data as Record<string, unknown>, erasedAt),
  }));

interface Corrected {
  from?: unknown;
  to?: unknown;
}

/** Of a correction both values; of what was received, the note of each line. */
export const cleanEntry = (table: ReturnTable, data: string): string =>
  rewritten(data, ({ lines, ...rest }) => {
    const fields = Object.entries(rest).map(([name, value]) => {
      const erased = FIELDS[table].get(name);
      if (erased === undefined || value === null) return [name, value];
      if (typeof value !== 'object') return [name, erased];
      const { from, to } = value as Corrected;
      return [name, { from: from && (erased ?? ERASED_TEXT), to: to && (erased ?? ERASED_TEXT) }];
    });
    const counted = Array.isArray(lines) ? { lines: lines.map(({ note, ...line }) => line) } : {};
    return { ...Object.fromEntries(fields), ...counted };
  });

// --- saved searches ---

/** What a customer is known by; without what every text would match. */
export interface Marks {
  texts: string[];
  phones: string[];
}

export const digitsOfPhone = (phone: string): string => phone.replaceAll(/\D/g, '').replace(/^00/, '');

const isWordIn = (text: string, words: string): boolean => {
  const at = text.toLowerCase().indexOf(words.toLowerCase());
  const isLetter = (character = '') => /[\p{L}\p{N}]/u.test(character);
  return at >= 0 && !isLetter(text[at - 1]) && !isLetter(text[at + words.length]);
};

/** "okafor" names Grace Okafor too. */
const isPartOf = (text: string, words: string): boolean => {
  const parts = text.trim().split(/\s+/);
  return parts.every((part) => part.length > 2 && isWordIn(words, part));
};

const names = (text: string, { texts, phones }: Marks): boolean =>
  texts.some((mark) => isWordIn(text, mark) || isPartOf(text, mark)) ||
  phones.some((phone) => phone !== '' && digitsOfPhone(text).includes(phone));

export const cleanView = (
  view: Pick<Row<'saved_views'>, 'name' | 'search'>,
  marks: Marks,
): { name: string; search: string } => ({
  name: names(view.name, marks) ? ERASED_TEXT : view.name,
  search: rewritten(view.search, (search) =>
    Object.fromEntries(
      Object.entries(search).map(([name, value]) => [
        name,
        names(String(value), marks) ? ERASED_TEXT : value,
      ]),
    ),
  ),
});
