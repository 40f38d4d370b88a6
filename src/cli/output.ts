import type { ApiClient } from '../api-clients/store.ts';
import { instant } from '../instant.ts';
import type { Shop } from '../shops/plans.ts';

/** A command that was understood but cannot be done: one line on standard error, exit status 1. */
export class CliFailure extends Error {}

type Fields = Record<string, unknown>;

/** With `--json` one line of JSON and nothing else; otherwise something to read. */
export const print = (result: Fields | Fields[], json: boolean | undefined): void => {
  const text = json ? JSON.stringify(result) : Array.isArray(result) ? table(result) : fields(result);
  process.stdout.write(`${text}\n`);
};

/** Text from elsewhere, for a terminal: without the characters that would move its cursor or change its colours. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim();

const shown = (value: unknown): string =>
  value === null ? '-' : Array.isArray(value) ? value.join(', ') || '-' : String(value);

const fields = (result: Fields): string => {
  const width = Math.max(...Object.keys(result).map((name) => name.length));
  return Object.entries(result)
    .map(([name, value]) => `${name.padEnd(width)}  ${shown(value)}`)
    .join('\n');
};

const table = (rows: Fields[]): string => {
  const first = rows[0];
  if (!first) return '(none)';
  const names = Object.keys(first);
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => shown(row[name]).length)));
  const line = (cells: string[]) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(names), ...rows.map((row) => line(names.map((name) => shown(row[name]))))].join('\n');
};

const moment = (ms: number | null): string | null => (ms === null ? null : instant(ms));

export const shopFields = (shop: Shop) => ({
  id: shop.id,
  name: shop.name,
  plan: shop.plan,
  subscription: shop.active ? 'active' : 'inactive',
  billing: shop.billing.kind,
  allowance: shop.billing.kind === 'ALLOWANCE' ? shop.billing.limit : null,
  usageCap: shop.billing.kind === 'USAGE' ? shop.billing.limit : null,
  createdAt: instant(shop.createdAt),
});

export const clientFields = (client: ApiClient) => ({
  id: client.id,
  name: client.name,
  webhookUrl: client.webhookUrl,
  lastUsedAt: moment(client.lastUsedAt),
  revokedAt: moment(client.revokedAt),
  replacedBy: client.replacedBy,
  createdAt: instant(client.createdAt),
});
