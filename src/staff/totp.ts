import { createHmac, timingSafeEqual } from 'node:crypto';

// Time-based one-time passwords as every authenticator app makes them: RFC 6238 with SHA-1, six digits, 30 seconds.

const STEP_MS = 30_000;
const DIGITS = 6;
/** A phone's clock may be a little wrong: one step either side is taken too. */
const STEPS_APART = [-1, 0, 1];

export const stepAt = (nowMs: number): number => Math.floor(nowMs / STEP_MS);

/** RFC 4226 with the step as its counter. */
export const codeAt = (secret: Buffer, step: number): string => {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
};

export const isCodeShaped = (code: string): boolean => /^\d{6}$/.test(code);

export const stepOf = (secret: Buffer, code: string, nowMs: number): number | null => {
  const given = Buffer.from(code);
  const steps = STEPS_APART.map((apart) => stepAt(nowMs) + apart);
  return (
    steps.find((step) => {
      const right = Buffer.from(codeAt(secret, step));
      return right.length === given.length && timingSafeEqual(right, given);
    }) ?? null
  );
};

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export const base32 = (bytes: Uint8Array): string => {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('');
};

export const otpauthUri = (secret: Buffer, issuer: string, account: string): string =>
  `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(account)}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
