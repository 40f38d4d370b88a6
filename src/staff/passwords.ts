import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { BoundedQueue } from '../lib/bounded-queue.ts';
import { invalidField, ServiceError } from '../platform/errors.ts';
import { COMMON_PASSWORDS } from './common-passwords.ts';

/** A flood causes many of these, so they are not logged one by one. */
export const tooManyAtOnce = (): ServiceError => new ServiceError('SERVICE_UNAVAILABLE', { quiet: true });

const passwordLane = () =>
  new BoundedQueue({ atOnce: 1, waiting: 100, withinMs: 5_000, refusal: tooManyAtOnce });

/**
 * Checking a password takes a thread, 19 MiB and tens of milliseconds, so each process checks two at a time: one for known users
 * and one for strangers. However many strangers try, they only wait for each other (docs/contract.md).
 */
export const LANES = { known: passwordLane(), stranger: passwordLane() };

/** The limit for one shop: its people wait for each other, and delay those of other shops by about a second at most. */
const MOST_CHECKS_OF_A_SHOP = 20;
const known = new Map<string, number>();

/** Runs work in the lane of known users. */
export const runInKnownLane = async <Result>(
  shopId: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  const running = known.get(shopId) ?? 0;
  if (running >= MOST_CHECKS_OF_A_SHOP) throw tooManyAtOnce();
  known.set(shopId, running + 1);
  try {
    return await LANES.known.run(work);
  } finally {
    const left = (known.get(shopId) ?? 1) - 1;
    if (left > 0) known.set(shopId, left);
    else known.delete(shopId);
  }
};

/** Keyboards differ: an accented letter may be one character or two. */
const normalised = (password: string): string => password.normalize('NFKC');

/**
 * Argon2id with the library's parameters (19 MiB, two passes), as OWASP recommends. A person who sets a password has a session, a link or
 * the command line, and so counts as known.
 */
export const hashPassword = (password: string): Promise<string> =>
  LANES.known.run(() => hash(normalised(password)));

const lettersAndDigits = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** A password must have this many characters besides the names in it, which a stranger may know. */
const LEAST_BESIDE_NAMES = 5;
const SHORTEST_NAME = 3;

/** Whether too little remains of the password without these names and their words. */
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
 * Returns the hash of a new password; throws if it is easy to guess. Its length is checked with the body, in which `field` is
 * its name. A password that is older than these rules stays valid.
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
 * The hash for an account without a password: no known password has it, and its salt identifies it. Checking it costs as much as any
 * other. Each one differs, so that trusted browsers, which are bound to the hash, are no longer trusted.
 */
export const newNoPassword = (): string =>
  NO_SALT + randomBytes(DIGEST_BYTES).toString('base64').replace(/=+$/, '');
export const hasPassword = (passwordHash: string): boolean => !passwordHash.startsWith(NO_SALT);

/** This is checked if there is no account, so that the time does not reveal that. */
export const DUMMY_HASH = newNoPassword();

/** Must be called in one of the lanes. It takes as long without a hash as with one. */
export const isPassword = async (passwordHash: string | null, password: string): Promise<boolean> => {
  const same = await verify(passwordHash ?? DUMMY_HASH, normalised(password));
  return passwordHash !== null && same;
};
