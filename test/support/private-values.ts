import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db } from '../../src/db/types.ts';
import { linesOf } from './backups.ts';
import { tablesOf } from './dump.ts';
import { ENGINE } from './harness.ts';
import { type Env, lookInto } from './process.ts';

// Values that may be readable in some places only, and a search in all places.

/** Each value with its description, for the message of a failing test. */
export type PrivateValues = Map<string, string>;

/** Unchanged, URL-encoded, as JSON, and in other encodings. */
const formsOf = (value: string): string[] => {
  const bytes = Buffer.from(value);
  return [
    ...new Set([
      value,
      encodeURIComponent(value),
      JSON.stringify(value).slice(1, -1),
      bytes.toString('base64').replace(/=+$/, ''),
      bytes.toString('base64url'),
      bytes.toString('hex'),
    ]),
  ];
};

/** The descriptions of the values found, with their surroundings. */
export const foundIn = (text: string, values: PrivateValues): string[] =>
  [...values].flatMap(([value, what]) =>
    formsOf(value).flatMap((form) => {
      const at = text.indexOf(form);
      return at < 0 ? [] : [`${what}: …${text.slice(Math.max(0, at - 80), at + form.length + 20)}…`];
    }),
  );

const shown = (value: unknown): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value);

/** Every value of every row. */
const rowsAsText = async (db: Db): Promise<string> => {
  const rows = (await tablesOf(db)).flatMap(([, ofTable]) => ofTable);
  return rows.map((row) => Object.values(row).map(shown).join('\t')).join('\n');
};

/** SQLite's files, including deleted bytes that are not yet overwritten. The key is beside them. */
const filesAsText = (folder: string): string =>
  readdirSync(folder)
    .filter((name) => name !== 'secret.key')
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n');

export const databaseAsText = async (env: Env): Promise<string> =>
  (await rowsAsText(lookInto(env))) + (ENGINE === 'sqlite' ? filesAsText(env['DATA_DIR'] as string) : '');

/** A backup file: its bytes, and its decompressed content. */
export const backupAsText = (file: string): string =>
  [readFileSync(file, 'latin1'), ...linesOf(file)].join('\n');
