import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db } from '../../src/db/types.ts';
import { linesOf } from './backups.ts';
import { tablesOf } from './dump.ts';
import { ENGINE } from './harness.ts';
import { type Env, lookInto } from './process.ts';

// What may be read in some places only, and looking for it in all of them.

/** Each value with what it is, for the message of a test that finds it. */
export type PrivateValues = Map<string, string>;

/** As it is, and as it looks in an address, in JSON or written in other letters. */
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

/** What was found there, by what it is and with what stands around it. */
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

/** SQLite's files as they are, with what was deleted and not yet overwritten. The key lies beside them. */
const filesAsText = (folder: string): string =>
  readdirSync(folder)
    .filter((name) => name !== 'secret.key')
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n');

export const databaseAsText = async (env: Env): Promise<string> =>
  (await rowsAsText(lookInto(env))) + (ENGINE === 'sqlite' ? filesAsText(env['DATA_DIR'] as string) : '');

/** A backup file: its bytes, and what they hold. */
export const backupAsText = (file: string): string =>
  [readFileSync(file, 'latin1'), ...linesOf(file)].join('\n');
