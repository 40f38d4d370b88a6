import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError, secretKeysIn } from './config.ts';
import type { Db } from './db/database.ts';
import { findFact } from './db/installation-facts.ts';
import { narrow } from './db/private-file.ts';
import { type Place, type SecretBox, secretBox } from './secrets.ts';

const CHECK = 'secret-key-check';
const CHECK_TEXT = 'handback';
export const CHECK_PLACE: Place = { table: 'installation', column: 'value', id: CHECK };

export const findCheck = (db: Db): Promise<string | null> => findFact(db, CHECK);

type KeySettings = Pick<Config, 'secretKeys' | 'dataDir'>;

/** The box of the installation's keys. Throws where they are missing, or are not those that the data was sealed with. */
export const openSecrets = async (config: KeySettings, db: Db): Promise<SecretBox> => {
  // First: who finds the check finds the key file too, since that is made before.
  const isSetUp = (await findCheck(db)) !== null;
  const box = secretBox(config.secretKeys ?? keysInFile(config.dataDir, isSetUp));
  await db
    .insertInto('installation')
    .values({ name: CHECK, value: box.seal(CHECK_TEXT, CHECK_PLACE) })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  try {
    box.open((await findCheck(db)) ?? '', CHECK_PLACE);
  } catch {
    const where = config.secretKeys ? 'SECRET_KEY' : keyFileIn(config.dataDir);
    throw new ConfigError(`${where} does not hold the key that this database was set up with`);
  }
  return box;
};

const keyFileIn = (dataDir: string): string => join(dataDir, 'secret.key');

/** The checks tell which keys open a backup's secrets: the installation's, and the one that seals now. No box: it is not signed. */
export const backupKeys = async (
  config: KeySettings,
  db: Db,
): Promise<{ checks: string[]; box: SecretBox | null }> => {
  const check = await findCheck(db);
  const checks = check === null ? [] : [check];
  try {
    const box = keysOf(config);
    if (check === null) return { checks, box };
    box.open(check, CHECK_PLACE);
    return { checks: [check, box.seal(CHECK_TEXT, CHECK_PLACE)], box };
  } catch {
    return { checks, box: null };
  }
};

export const mustOpenKeyChecks = (config: KeySettings, checks: readonly string[]): void => {
  if (checks.length === 0) return;
  const box = keysOf(config);
  for (const check of checks)
    try {
      box.open(check, CHECK_PLACE);
    } catch {
      throw new ConfigError(
        'SECRET_KEY does not hold the key that the secrets of this backup are sealed with: bring that one back (the setting, or secret.key in DATA_DIR)',
      );
    }
};

/** The box of keys that are there already: none is made. */
export const keysOf = ({ secretKeys, dataDir }: KeySettings): SecretBox =>
  secretBox(secretKeys ?? keysInFile(dataDir, true));

/** Those kept beside the SQLite file; one is made there at the first start. */
export const keysInFile = (dataDir: string, isSetUp: boolean): string[] => {
  const file = keyFileIn(dataDir);
  if (!existsSync(file)) {
    if (isSetUp)
      throw new ConfigError(`${file} is missing: bring back the key that the data was sealed with`);
    makeKeyFile(file);
  }
  narrow(file);
  return secretKeysIn(readFileSync(file, 'utf8'), () => {
    throw new ConfigError(`${file} holds no key: bring back the one the data was sealed with (SECRET_KEY)`);
  });
};

/** Written elsewhere and linked into place: it is there whole or not at all, and the first of two processes wins. */
const makeKeyFile = (file: string): void => {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { flag: 'wx', mode: 0o600, flush: true });
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
};
