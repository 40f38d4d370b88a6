import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError, SECRET_KEY_LENGTH } from './config.ts';
import type { Db } from './db/database.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export const sha256 = (value: string): string => hash('sha256', value);

/** Encrypts what must be read again later; hashes are for what need not. */
export interface SecretBox {
  seal(plain: string): string;
  open(sealed: string): string;
}

export const secretBox = (secretKey: string): SecretBox => {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'handback secrets', 32));
  return {
    seal(plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce);
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64');
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return (
        decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      );
    },
  };
};

/** The configured key, or the one kept beside the SQLite file, made there at the first start. */
export const secretKeyOf = ({ secretKey, dataDir }: Pick<Config, 'secretKey' | 'dataDir'>): string => {
  if (secretKey) return secretKey;
  const file = join(dataDir, 'secret.key');
  if (!existsSync(file)) makeKeyFile(file);
  const key = readFileSync(file, 'utf8').trim();
  if (key.length < SECRET_KEY_LENGTH)
    throw new ConfigError(`${file} holds no key: bring back the one the data was sealed with (SECRET_KEY)`);
  return key;
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

const CHECK = 'secret-key-check';
const CHECK_TEXT = 'handback';

/** Stops the start when the data was sealed with another key, instead of failing at the first webhook. */
export const checkSecretKey = async (db: Db, box: SecretBox): Promise<void> => {
  await db
    .insertInto('installation')
    .values({ name: CHECK, value: box.seal(CHECK_TEXT) })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  const { value } = await db
    .selectFrom('installation')
    .select('value')
    .where('name', '=', CHECK)
    .executeTakeFirstOrThrow();
  try {
    box.open(value);
  } catch {
    throw new ConfigError('SECRET_KEY is not the key this database was set up with');
  }
};
