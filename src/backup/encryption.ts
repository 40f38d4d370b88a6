import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../lib/config-error.ts';
import { CliFailure, cannot } from '../platform/start-failure.ts';

// Backups are encrypted in the age format (age-encryption.org): anyone with a recipient (age1…) can encrypt, only the identity
// can decrypt. The signature is inside, so a file that someone else encrypted to the same recipient is not restored.

const MAGIC = 'age-encryption.org/';

/** Loads age only when it is needed, since it is 200 kB of JavaScript. */
export const encrypterFor = async (recipients: readonly string[]) => {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients)
    try {
      encrypter.addRecipient(recipient);
    } catch {
      // The value is not quoted, since it may be the identity by mistake.
      throw new ConfigError(
        'a recipient has a typing error (BACKUP_RECIPIENT, --recipient): age-keygen prints it',
      );
    }
  return encrypter;
};

/** Encrypts the bytes, or passes them on unchanged without recipients. */
export async function* encryptForRecipients(
  plain: AsyncIterable<Uint8Array>,
  recipients: readonly string[],
): AsyncGenerator<Uint8Array> {
  if (recipients.length === 0) yield* plain;
  else yield* await (await encrypterFor(recipients)).encrypt(ReadableStream.from(plain));
}

export const isEncrypted = async (file: FileHandle): Promise<boolean> => {
  const { buffer } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
  return buffer.toString('latin1') === MAGIC;
};

const decrypterFor = async (identityFile: string) => {
  const text = await readFile(identityFile, 'utf8').catch((error) => cannot('read', identityFile, error));
  const lines = text.split('\n').map((line) => line.trim());
  const identities = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  try {
    for (const identity of identities) decrypter.addIdentity(identity);
    if (identities.length > 0) return decrypter;
  } catch {
    // The message of the library is not shown, since it may quote the line.
  }
  throw new CliFailure(`${identityFile} is not a file of age identities: AGE-SECRET-KEY-…, one a line`);
};

/** Decrypts into a file without a name, so that nothing is left however this process ends. */
export const decryptToFile = async (
  sealed: AsyncIterable<Uint8Array>,
  path: string,
  identityFile: string | undefined,
): Promise<FileHandle> => {
  if (identityFile === undefined)
    throw new CliFailure(`${path} is encrypted: pass --identity FILE with the age identity that opens it`);
  const decrypter = await decrypterFor(identityFile);
  const temporary = join(tmpdir(), `handback-${randomBytes(8).toString('hex')}`);
  const file = await open(temporary, 'wx+', 0o600);
  await rm(temporary);
  try {
    await file.writeFile(await decrypter.decrypt(ReadableStream.from(sealed)));
    return file;
  } catch (error) {
    await file.close();
    const { code, message } = error as NodeJS.ErrnoException;
    if (code) return cannot('write', `${temporary} (TMPDIR)`, error);
    throw new CliFailure(
      message.startsWith('no identity matched')
        ? `${identityFile} does not open ${path}: it is encrypted to another recipient`
        : `${path} is damaged (it cannot be decrypted): nothing was restored; use another copy`,
    );
  }
};
