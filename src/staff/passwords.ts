import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { BoundedQueue } from '../lib/bounded-queue.ts';
import { invalidField, ServiceError } from '../platform/errors.ts';
import { COMMON_PASSWORDS } from './common-passwords.ts';

/** Expected in a flood, so it is no line of the log for each. */
export const tooManyAtOnce = (): ServiceError => new ServiceError('SERVICE_UNAVAILABLE', { quiet: true });

const passwordLane = () =>
  new BoundedQueue({ atOnce: 1, waiting: 100, withinMs: 5_000, refusal: tooManyAtOnce });

/**
 * Checking a password takes a thread, 19 MiB and tens of milliseconds, so each process checks two at a time: one for people who are
 * known, and one for strangers. However many strangers come, they wait for each other alone (docs/contract.md).
 */
export const LANES = { known: passwordLane(), stranger: passwordLane() };

/** Of one shop: its people wait for each other, and hold up those of other shops for about a second. */
const MOST_OF_A_SHOP = 20;
const known = new Map<string, number>();

/** Work in the lane of those who are known. */
export const runKnown = async <Result>(shopId: string, work: () => Promise<Result>): Promise<Result> => {
  const running = known.get(shopId) ?? 0;
  if (running >= MOST_OF_A_SHOP) throw tooManyAtOnce();
  known.set(shopId, running + 1);
  try {
    return await LANES.known.run(work);
  } finally {
    const left = (known.get(shopId) ?? 1) - 1;
    if (left > 0) known.set(shopId, left);
    else known.delete(shopId);
  }
};

/** The same from any keyboard: an accent may be typed as one character or as two. */
const normalised = (password: string): string => password.normalize('NFKC');

/**
 * Argon2id with the library's parameters (19 MiB, two passes), as OWASP advises. Whoever chooses a password has a session, a link or
 * the command line, and so is known.
 */
export const hashPassword = (password: string): Promise<string> =>
  LANES.known.run(() => hash(normalised(password)));

const lettersAndDigits = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Beyond the names in it a password must have so much that a stranger does not know. */
const LEAST_BESIDE_NAMES = 5;
const SHORTEST_NAME = 3;

/** Whether nearly nothing is left of it without these names and their words. */
const isMadeOf = (password: string, names: readonly string[]): boolean => {
  const words = names.map(lettersAndDigits);
  const parts = [...words.map((each) => each.join('')), ...words.flat()]
    .filter(({ length }) => length >= SHORTEST_NAME)
    .sort((one, other) => other.length - one.length);
  const whole = lettersAndDigits(password).join('');
  const rest = parts.reduce((left, part) => left.replaceAll(part, ' '), whole);
  return rest !== whole && rest.replaceAll(' ', '').length < LEAST_BESIDE_NAMES;
};

export interface PasswordOwner {
  shopName: string;
  email: string;
}

/**
 * The hash of a password that someone chooses, unless a stranger would guess it. Its length is checked with the body; `field` is the
 * body's name for it. A password from before these rules stays valid.
 */
export const hashNewPassword = (
  field: string,
  password: string,
  { shopName, email }: PasswordOwner,
): Promise<string> => {
  const plain = normalised(password);
  if (COMMON_PASSWORDS.has(plain.toLowerCase()))
    throw invalidField(field, 'common', 'is one of the most common passwords: choose another');
  if (isMadeOf(plain, [shopName, email]))
    throw invalidField(field, 'guessable', "is made of the shop's name or the email: choose another");
  return hashPassword(password);
};

const NO_SALT = '$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$';
const DIGEST_BYTES = 32;
/**
 * For an account without a password: a hash that no known password has, told apart by its salt. Checking it costs as much as any
 * other. It differs each time, so that the trust in browsers, which is bound to it, ends.
 */
export const newNoPassword = (): string =>
  NO_SALT + randomBytes(DIGEST_BYTES).toString('base64').replace(/=+$/, '');
export const hasPassword = (passwordHash: string): boolean => !passwordHash.startsWith(NO_SALT);

/** Checked where there is no account. */
export const DUMMY_HASH = newNoPassword();

/** Call it inside one of the lanes. Takes as long without a hash as with one. */
export const isPassword = async (passwordHash: string | null, password: string): Promise<boolean> => {
  const same = await verify(passwordHash ?? DUMMY_HASH, normalised(password));
  return passwordHash !== null && same;
};
