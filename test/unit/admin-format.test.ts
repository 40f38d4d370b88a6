import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it, vi } from 'vitest';

const SOURCE = fileURLToPath(new URL('../../admin/src/', import.meta.url));

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

const formatFor = async (...languages: string[]) => {
  vi.stubGlobal('navigator', { languages });
  // Another test of this worker may have loaded it for other languages.
  vi.resetModules();
  return await import('../../admin/src/format.ts');
};

it.each([
  [['de-DE', 'de'], 'en-GB', '4 November 2026'],
  [['de-DE', 'en-US', 'en-GB'], 'en-US', 'November 4, 2026'],
  [['en-AU'], 'en-AU', '4 November 2026'],
])('users with %s read dates as in %s', async (languages, locale, day) => {
  const { LOCALE, dateFormat } = await formatFor(...languages);
  expect(LOCALE).toBe(locale);
  expect(dateFormat({ dateStyle: 'long' }).format(new Date(2026, 10, 4))).toBe(day);
});

it('numbers and amounts are written the same way in every locale', async () => {
  const { formatNumber, moneyFormat, decimalsOf } = await formatFor('de-DE');
  expect(formatNumber(1234.5)).toBe('1,234.5');
  expect(moneyFormat('EUR').format(1234.5)).toBe('€1,234.50');
  expect(moneyFormat(null).format(1234.5)).toBe('1,234.50');
  expect(decimalsOf('JPY')).toBe(0);
});

it('a date is in the reader’s time zone, not UTC', async () => {
  const { dayOf } = await formatFor('en-GB');
  expect(dayOf(new Date(2026, 0, 5, 0, 30))).toBe('2026-01-05');
  expect(dayOf(new Date(2026, 0, 5, 23, 30))).toBe('2026-01-05');
});

it('nothing else in the app chooses a locale', () => {
  const choosing =
    /toLocale(Date|Time)?String|Intl\.(DateTime|Number|RelativeTime|List)Format\b|Intl\.(DisplayNames|PluralRules)/;
  const files = globSync('**/*.{ts,tsx}', { cwd: SOURCE }).filter((path) => path !== 'format.ts');
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((path) => choosing.test(readFileSync(`${SOURCE}${path}`, 'utf8')))).toEqual([]);
});
