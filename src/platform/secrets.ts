import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFact, replaceFact } from '../db/installation-facts.ts';
import type { Db } from '../db/types.ts';
import { ConfigError } from '../lib/config-error.ts';
import { restrictPermissions } from '../lib/private-files.ts';
import { type Config, secretKeysIn } from './config.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** A sealed value: version, key id, then nonce, tag and cipher text in base64. */
const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9+/]+=*)$/;

export const sha256 = (value: string): string => hash('sha256', value);

/** A token of a session or link. 256 random bits cannot be guessed, so storing a plain SHA-256 is enough. */
export const newToken = (): string => randomBytes(32).toString('hex');

/** The column and row that a value is sealed for (its associated data). Copied to another row, it cannot be opened. */
export interface SealedFor {
  table: string;
  column: string;
  id: string;
}

export type SecretBox = ReturnType<typeof secretBox>;

const derive = (secretKey: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secretKey, '', purpose, 32));

/** The id identifies a key without revealing it: it is a hash of a derived value that has no other use. */
const keyFrom = (secretKey: string) => ({
  id: hash('sha256', derive(secretKey, 'handback key id')).slice(0, 8),
  sealing: derive(secretKey, 'handback secrets'),
  signing: derive(secretKey, 'handback signatures'),
});

type Key = ReturnType<typeof keyFrom>;

/** Encrypts values that must be read again; others are hashed. The first key seals, all of them open (ADR 0018). */
export const secretBox = (secretKeys: readonly string[]) => {
  const keys = secretKeys.map(keyFrom);
  const [first] = keys;
  if (!first) throw new Error('a secret box needs a key');
  const signature = ({ signing }: Key, purpose: string, text: string): Buffer =>
    createHmac('sha256', signing)
      .update(JSON.stringify([purpose, text]))
      .digest();
  return {
    seal: (plain: string, column: SealedFor): string =>
      `v1.${first.id}.${encrypt(first, plain, boundTo(first, column))}`,
    /** Throws if no key opens the value, or it was sealed for another column or row. */
    open(sealed: string, column: SealedFor): string {
      const [, id, body = ''] = SEALED.exec(sealed) ?? [];
      const key = keys.find((each) => each.id === id);
      if (!key) throw new Error('a sealed value cannot be opened: no listed key fits it');
      return decrypt(key, body, boundTo(key, column));
    },
    isCurrent: (sealed: string): boolean => SEALED.exec(sealed)?.[1] === first.id,
    /** Signatures that prove that a text is ours and for this purpose: the first key's, then those of the other keys. */
    signatures: (purpose: string, text: string): string[] =>
      keys.map((key) => signature(key, purpose, text).toString('base64url')),
    isSigned(purpose: string, text: string, given: string): boolean {
      const bytes = Buffer.from(given, 'base64url');
      return keys
        .map((key) => signature(key, purpose, text))
        .some((each) => each.length === bytes.length && timingSafeEqual(each, bytes));
    },
  };
};

const boundTo = ({ id }: Key, { table, column, id: row }: SealedFor): Buffer =>
  Buffer.from(JSON.stringify(['v1', id, table, column, row]));

const encrypt = ({ sealing }: Key, plain: string, bound: Buffer): string => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, sealing, nonce).setAAD(bound);
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
};

const decrypt = ({ sealing }: Key, text: string, bound: Buffer): string => {
  const bytes = Buffer.from(text, 'base64');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, sealing, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)).setAAD(bound);
  return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
};

const CHECK = 'secret-key-check';
const CHECK_TEXT = 'handback';
export const SEALED_CHECK: SealedFor = { table: 'installation', column: 'value', id: CHECK };

export const findCheck = (db: Db): Promise<string | null> => findFact(db, CHECK);

type KeySettings = Pick<Config, 'secretKeys' | 'dataDir'>;

/** Opens the box of the installation's keys. Throws if they are missing or do not open its data. */
export const openSecrets = async (config: KeySettings, db: Db): Promise<SecretBox> => {
  // This is read first: if the check exists, so does the key file, which is written before it.
  const isSetUp = (await findCheck(db)) !== null;
  const box = secretBox(config.secretKeys ?? keysInFile(config.dataDir, isSetUp));
  await replaceFact(db, CHECK, null, box.seal(CHECK_TEXT, SEALED_CHECK));
  if (openOrNull(box, (await findCheck(db)) ?? '', SEALED_CHECK) !== null) return box;
  const where = config.secretKeys ? 'SECRET_KEY' : keyFileIn(config.dataDir);
  throw new ConfigError(`${where} does not hold the key that this database was set up with`);
};

const keyFileIn = (dataDir: string): string => join(dataDir, 'secret.key');

export const openOrNull = (box: SecretBox, sealed: string, column: SealedFor): string | null => {
  try {
    return box.open(sealed, column);
  } catch {
    return null;
  }
};

/** `checks` identify the keys that open a backup's secrets: the installation's, and the current one. Without a box it is not signed. */
export const backupKeys = async (config: KeySettings, db: Db) => {
  const check = await findCheck(db);
  const checks = check === null ? [] : [check];
  try {
    const box = keysOf(config);
    if (check === null) return { checks, box };
    box.open(check, SEALED_CHECK);
    return { checks: [check, box.seal(CHECK_TEXT, SEALED_CHECK)], box };
  } catch {
    return { checks, box: null };
  }
};

export const mustOpenKeyChecks = (config: KeySettings, checks: readonly string[]): void => {
  if (checks.some((check) => openOrNull(keysOf(config), check, SEALED_CHECK) === null))
    throw new ConfigError(
      'SECRET_KEY does not hold the key that the secrets of this backup are sealed with: bring that one back (the setting, or secret.key in DATA_DIR)',
    );
};

/** Opens the box of existing keys without creating one. */
export const keysOf = ({ secretKeys, dataDir }: KeySettings): SecretBox =>
  secretBox(secretKeys ?? keysInFile(dataDir, true));

/** Returns the keys beside the SQLite file. The first start creates one there. */
export const keysInFile = (dataDir: string, isSetUp: boolean): string[] => {
  const file = keyFileIn(dataDir);
  if (!existsSync(file)) {
    if (isSetUp)
      throw new ConfigError(`${file} is missing: bring back the key that the data was sealed with`);
    createKeyFile(file);
  }
  restrictPermissions(file);
  const keys = secretKeysIn(readFileSync(file, 'utf8'));
  if (keys) return keys;
  throw new ConfigError(`${file} holds no key: bring back the one the data was sealed with (SECRET_KEY)`);
};

/** Writes a temporary file and links it, so that the key file is complete or absent, and the first of two processes wins. */
const createKeyFile = (file: string): void => {
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
