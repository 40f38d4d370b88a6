import { perKind, type ReturnTable } from '../../contract/kinds.ts';
import { ERASED_EMAIL, ERASED_TEXT } from '../../contract/personal-data.ts';
import type { Row, Tables } from '../db/schema.ts';
import { fold, phoneDigits } from '../lib/fold.ts';
import { parseJsonColumn, withExactNumbers } from '../lib/json.ts';
import { nationalDigits } from '../returns/search-text.ts';

// Every text column of the database, and the effect of an erasure on it. Finding, exporting, erasing, a test and
// docs/privacy.md use this list. A column that is missing here does not compile.

export const ERASURE_RULES = {
  text: `becomes \`${ERASED_TEXT}\``,
  email: `becomes \`${ERASED_EMAIL}\``,
  none: 'becomes `null`',
  address: `each of its parts becomes \`${ERASED_TEXT}\``,
  rebuilt: 'is rebuilt from what is left',
  cleaned: 'loses what the columns of the return lose',
  search: `becomes \`${ERASED_TEXT}\` where it names the customer`,
  employee: `becomes \`${ERASED_TEXT}\` when the former employee is erased`,
  account: 'is deleted with the account of the employee',
  short: 'is deleted after a time',
  kept: 'stays: it names no customer, or the shop needs it for its records',
} as const;
export type ErasureRule = keyof typeof ERASURE_RULES;

/** Columns with free text, without those that have a few fixed values. */
type TextColumn<Table extends keyof Tables> = {
  [Column in keyof Row<Table>]: string extends NonNullable<Row<Table>[Column]> ? Column : never;
}[keyof Row<Table>] &
  string;

type PersonalColumns = { [Table in keyof Tables]: Record<TextColumn<Table>, ErasureRule> };

const each = <Value extends string, Name extends string>(value: Value, ...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, value])) as Record<Name, Value>;

const OF_BOTH = {
  ...each('text', 'customer_name'),
  ...each('email', 'customer_email'),
  ...each('none', 'customer_phone', 'waiting_note'),
  ...each('rebuilt', 'search_text'),
  ...each('kept', 'id', 'shop_id', 'receiver_id', 'assignee_id', 'external_ref', 'external_source'),
};

export const PERSONAL_COLUMNS: PersonalColumns = {
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
    ...each('cleaned', 'response'),
    ...each('short', 'key', 'body_hash'),
    ...each('kept', 'owner_id'),
  },
  saved_views: { ...each('search', 'name', 'search'), ...each('kept', 'id', 'shop_id', 'user_id') },
  audit_log: {
    ...each('employee', 'actor_name', 'subject_name', 'data'),
    ...each('short', 'address'),
    ...each('kept', 'id', 'shop_id', 'subject_id', 'actor_id'),
  },
  // Only a test has its own body: others are in `events`.
  webhook_deliveries: {
    ...each('short', 'body', 'attempt_log', 'reason'),
    ...each('kept', 'id', 'rma_id', 'receiver_id'),
  },
  users: {
    ...each('account', 'id', 'shop_id', 'email', 'password_hash', 'name', 'factor_secret'),
    ...each('account', 'provider_issuer', 'provider_subject'),
  },
  sessions: each('account', 'token_hash', 'id', 'user_id', 'browser', 'address'),
  sign_in_addresses: each('account', 'user_id', 'address'),
  access_links: each('account', 'token_hash', 'user_id'),
  recovery_codes: each('account', 'user_id', 'code_hash'),
  sign_in_failures: each('short', 'key', 'audit_id'),
  rate_limits: each('short', 'key'),
  removed_users: each('short', 'user_id', 'shop_id'),
  shops: each('kept', 'id', 'name', 'plan', 'subscription', 'billing'),
  shop_counters: each('kept', 'shop_id', 'month'),
  shop_settings: {
    ...each('kept', 'shop_id', 'address', 'name', 'phone', 'email', 'currency', 'time_zone'),
    ...each('kept', 'slip_text', 'logo'),
  },
  dangerous_goods: each('kept', 'shop_id', 'pattern'),
  api_clients: {
    ...each(
      'kept',
      'id',
      'shop_id',
      'key_hash',
      'name',
      'webhook_secret',
      'webhook_url',
      'replaced_by',
      'receiver_id',
    ),
    ...each('kept', 'rights', 'events'),
  },
  rma_totals: each('kept', 'shop_id', 'status'),
  target_days: each('kept', 'shop_id', 'status'),
  forget_rules: each('kept', 'shop_id'),
  erasures: each('kept', 'subject_id', 'shop_id', 'progress'),
  webhook_leases: each('kept', 'receiver_id', 'holder'),
  webhook_failures: each('kept', 'receiver_id', 'last_error'),
  installation: each('kept', 'name', 'value'),
};

// --- the contents of an erased return ---

const ERASED_ADDRESS = each(ERASED_TEXT, 'street', 'suburb', 'state', 'postcode');
const VALUES: Partial<Record<ErasureRule, string | null>> = {
  text: ERASED_TEXT,
  email: ERASED_EMAIL,
  none: null,
  address: JSON.stringify(ERASED_ADDRESS),
};

/** The columns with personal data, with their values after an erasure. */
export const erasedColumns = (table: ReturnTable): Record<string, string | null> => {
  const columns = Object.entries(PERSONAL_COLUMNS[table]).filter(([, rule]) => rule in VALUES);
  return Object.fromEntries(columns.map(([column, rule]) => [column, VALUES[rule] ?? null]));
};

export const fieldOf = (column: string): string =>
  column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The same by field of responses, events and timelines, with the parts of an address and the note of a received line. */
const fieldsOf = (table: ReturnTable): Map<string, string | null> => {
  const columns = Object.entries({ ...erasedColumns(table), ...ERASED_ADDRESS, note: null });
  return new Map(columns.map(([name, value]) => [fieldOf(name), value]));
};
const FIELDS = perKind(fieldsOf);

/**
 * Removes the customer from a response, an event or the data of a timeline entry. A full return has nulls where the parts of an event or an
 * entry have texts. A correction loses both values. A damaged text loses everything.
 */
export const cleanJson = (table: ReturnTable, text: string, erasedAt: string): string => {
  function clean(this: object, ...[name, value, context]: Parameters<typeof withExactNumbers>): unknown {
    const isWhole = 'createdAt' in this;
    if (isWhole && name === 'erasedAt') return erasedAt;
    const erased = FIELDS[table].get(name);
    if (erased === undefined || value === null) return withExactNumbers(name, value, context);
    const left = erased ?? (isWhole ? null : ERASED_TEXT);
    if (typeof value !== 'object') return left;
    // The reviver has handled the parts of an address before the address.
    return 'from' in value && 'to' in value ? { from: value.from && left, to: value.to && left } : value;
  }
  try {
    return JSON.stringify(JSON.parse(text, clean));
  } catch {
    return '{}';
  }
};

// --- saved searches ---

export const digitsOfPhone = (phone: string): string => phoneDigits(phone).replace(/^00/, '');

const foldedWords = (text: string): string[] => fold(text).match(/[^\s,;]+/g) ?? [];

/**
 * Whether all words of a name are next to each other, in any order. A name of one word does not count: it may be a city, a shop or
 * "kettle".
 */
const holdsName = (text: string, name: string): boolean => {
  const [words, wanted] = [foldedWords(text), foldedWords(name).toSorted()];
  return (
    wanted.length > 1 &&
    words.some(
      (_, i) =>
        words
          .slice(i, i + wanted.length)
          .toSorted()
          .join(' ') === wanted.join(' '),
    )
  );
};

/** The digits of a phone number with and without its country. */
const spellingsOf = (phone: string): string[] => {
  const national = nationalDigits(phone);
  return national === undefined ? [] : [national, phoneDigits(phone).replace(/^0+/, '')];
};

/** A number with fewer digits may be an order, a date or a part of a serial number. */
const FEWEST_PHONE_DIGITS = 7;
/** Spaces may divide a phone number into at most this many parts. */
const MOST_PHONE_PARTS = 8;

/** Whether a text contains the complete phone number, and not as a part of a longer number or a code. */
const holdsPhone = (text: string, phone: string): boolean => {
  const wanted = spellingsOf(phone).filter(({ length }) => length >= FEWEST_PHONE_DIGITS);
  const parts = text.split(/[^\p{L}\p{N}()+./-]+/u).filter(Boolean);
  const numbers = parts.flatMap((_, from) =>
    Array.from({ length: MOST_PHONE_PARTS }, (_each, more) => parts.slice(from, from + more + 1).join(' ')),
  );
  return numbers.some((number) => spellingsOf(number).some((spelling) => wanted.includes(spelling)));
};

/** Whether a text contains the complete email, and not as a part of a longer one. */
const holdsEmail = (text: string, email: string): boolean => {
  const [first = '', ...rest] = fold(text).split(fold(email));
  const before = [first, ...rest];
  return rest.some(
    (after, i) => !/[\p{L}\p{N}_.%+@-]$/u.test(before[i] ?? '') && !/^[.-]*[\p{L}\p{N}_@]/u.test(after),
  );
};

export interface CustomerMarks {
  names: string[];
  emails: string[];
  phones: string[];
}

const isAbout = (text: string, { names, emails, phones }: CustomerMarks): boolean =>
  emails.some((email) => holdsEmail(text, email)) ||
  phones.some((phone) => holdsPhone(text, phone)) ||
  names.some((name) => holdsName(text, name));

/** Filters in which staff search for people. */
const FREE_TEXT = ['q', 'customerEmail'];

/** Removes the customer from a saved view. Only the complete email, phone or name counts, since a view cannot be restored. */
export const cleanView = (view: Pick<Row<'saved_views'>, 'name' | 'search'>, marks: CustomerMarks) => {
  const cleaned = (text: string): string => (isAbout(text, marks) ? ERASED_TEXT : text);
  const clean = (name: string, value: unknown) => (FREE_TEXT.includes(name) ? cleaned(String(value)) : value);
  return {
    name: cleaned(view.name),
    search: JSON.stringify(parseJsonColumn('search', view.search, clean)),
  };
};
