import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Version, key id, then nonce, tag and cipher text in base64. */
const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9+/]+=*)$/;

export const sha256 = (value: string): string => hash('sha256', value);

/** Where a sealed value is kept. It opens nowhere else: a secret copied to another row is worth nothing there. */
export interface Place {
  table: string;
  column: string;
  id: string;
}

export type SecretBox = ReturnType<typeof secretBox>;

interface Key {
  id: string;
  sealing: Buffer;
  signing: Buffer;
}

const derive = (secretKey: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secretKey, '', purpose, 32));

/** The id tells keys apart, and nothing about them: it is a hash of something that is used for nothing else. */
const keyFrom = (secretKey: string): Key => ({
  id: hash('sha256', derive(secretKey, 'handback key id')).slice(0, 8),
  sealing: derive(secretKey, 'handback secrets'),
  signing: derive(secretKey, 'handback signatures'),
});

/** Encrypts what must be read again later; hashes are for what need not. The first key seals, all of them open (ADR 0018). */
export const secretBox = (secretKeys: readonly string[]) => {
  const keys = secretKeys.map(keyFrom);
  const [first] = keys;
  if (!first) throw new Error('a secret box needs a key');
  const signature = ({ signing }: Key, purpose: string, text: string): Buffer =>
    createHmac('sha256', signing)
      .update(JSON.stringify([purpose, text]))
      .digest();
  return {
    seal: (plain: string, place: Place): string =>
      `v1.${first.id}.${encrypt(first, plain, boundTo(first, place))}`,
    /** Throws where no key opens it, or where it was sealed for another place. */
    open(sealed: string, place: Place): string {
      const [, id, body = ''] = SEALED.exec(sealed) ?? [];
      const key = keys.find((each) => each.id === id);
      if (!key) throw new Error('a sealed value cannot be opened: no listed key fits it');
      return decrypt(key, body, boundTo(key, place));
    },
    isCurrent: (sealed: string): boolean => SEALED.exec(sealed)?.[1] === first.id,
    /** Proves later that this text came from us, for this purpose; by the first key, then as the others would have signed it. */
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

const boundTo = ({ id }: Key, { table, column, id: row }: Place): Buffer =>
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
