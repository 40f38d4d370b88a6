import { writeFileSync } from 'node:fs';
import { ERASURE_RULES, type ErasureRule, PERSONAL_COLUMNS } from '../../src/personal-data/erasure-rules.ts';
import { readText, rootPath } from './pages.ts';

// The table of docs/privacy.md, from the list in src/personal-data/erasure-rules.ts. `npm run docs:privacy` writes it into the page, and a test
// fails while the page has another one.

const PAGE = 'docs/privacy.md';
const TABLE = /(<!-- the table: npm run docs:privacy -->\n)[\s\S]*?(<!-- end of the table -->)/;
const MARKER = /^<!-- .+ -->\n/gm;

type Table = keyof typeof PERSONAL_COLUMNS;

const OF_A_RETURN = {
  email: "the customer's email address",
  rebuilt: 'the text that staff search in',
};

/** What the columns of a table hold that have the same rule. */
const HOLDS: Record<Table, Partial<Record<ErasureRule, string>>> = {
  offline_repairs: {
    ...OF_A_RETURN,
    text: "the customer's name, what is wrong with the item",
    none: "the customer's phone number, notes, the tracking number of the parcel",
    kept: 'ids, the references of your systems, order number, store, product, serial number, carrier, technician',
  },
  trade_returns: {
    ...OF_A_RETURN,
    text: 'the name of the contact person, why the goods come back',
    none: "the contact person's phone number, notes, comments",
    address: 'where the goods are collected or sent to',
    kept: 'ids, the references of your systems, order number and date, company, items, what arrived, credit',
  },
  timeline: {
    none: 'the note of an entry',
    cleaned: 'what an entry adds: both values of a correction, tracking, what arrived',
    employee: 'who did it: the name of an employee, or of an API client',
    kept: 'ids, the status before and after',
  },
  events: {
    cleaned: 'the event as the feed shows it and webhooks were sent it',
    kept: 'ids',
  },
  idempotency_keys: {
    cleaned: 'the response to a creation, for retries',
    short: 'the key, and a hash of the request',
    kept: 'an id',
  },
  saved_views: { search: 'the name of a saved view, and what it searches for', kept: 'ids' },
  audit_log: {
    employee: 'who did what to whom: names and email addresses of employees, values of settings',
    short: 'the network address of the request',
    kept: 'ids',
  },
  webhook_deliveries: {
    short: 'the body of a test event, how each attempt ended',
    kept: 'ids',
  },
  users: { account: 'name, email address, hash of the password, encrypted second factor' },
  sessions: { account: 'hash of the session token, browser, network address' },
  sign_in_addresses: { account: 'HMACs of addresses from which the employee signed in' },
  access_links: { account: 'hash of a one-time link' },
  recovery_codes: { account: 'hashes of recovery codes' },
  sign_in_failures: { short: 'HMACs of email and network addresses of failed sign-ins' },
  rate_limits: { short: 'network addresses of callers' },
  removed_users: { short: 'ids of removed users, until their returns are unassigned' },
  shops: { kept: 'the name of the shop, its plan' },
  shop_counters: { kept: 'an id, the month that is counted' },
  shop_settings: { kept: "the shop's own letterhead, logo, currency and time zone" },
  dangerous_goods: { kept: 'skus' },
  api_clients: { kept: 'name, webhook URL, rights, hash of the key, encrypted webhook secret' },
  rma_totals: { kept: 'statuses, for counts' },
  target_days: { kept: 'statuses' },
  forget_rules: { kept: 'ids' },
  erasures: { kept: 'ids of what was erased, without data' },
  webhook_leases: { kept: 'ids' },
  webhook_failures: { kept: 'an id, how the last attempt failed' },
  installation: { kept: 'facts about the installation' },
};

const rowsOf = (table: Table): string[] => {
  const columns = Object.entries(PERSONAL_COLUMNS[table]) as [string, ErasureRule][];
  const rules = [...new Set(columns.map(([, rule]) => rule))];
  const words = Object.keys(HOLDS[table]) as ErasureRule[];
  if (rules.length !== words.length || !rules.every((rule) => words.includes(rule)))
    throw new Error(
      `${table} has columns of these rules: ${rules}; scripts/docs/privacy-page.ts describes ${words}`,
    );
  return rules.map((rule) => {
    const names = columns.filter((column) => column[1] === rule).map(([name]) => `\`${name}\``);
    return `| \`${table}\` | ${names.join(', ')} | ${HOLDS[table][rule]} | ${ERASURE_RULES[rule]} |`;
  });
};

/** The page with the table as it is now. */
export const withPlaces = (text: string): string => {
  const rows = (Object.keys(PERSONAL_COLUMNS) as Table[]).flatMap(rowsOf);
  const table = [
    '| table | columns | what they hold | what becomes of it |',
    '|---|---|---|---|',
    ...rows,
    '',
  ];
  if (!TABLE.test(text)) throw new Error(`${PAGE} has lost the marks of its table`);
  return text.replace(TABLE, (_, begin: string, end: string) => `${begin}${table.join('\n')}${end}`);
};

/** The page as the site shows it. */
export const privacyText = (): string => withPlaces(readText(PAGE)).replaceAll(MARKER, '');

if (import.meta.main) writeFileSync(rootPath(PAGE), withPlaces(readText(PAGE)));
