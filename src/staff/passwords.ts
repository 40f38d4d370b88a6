import { hash, verify } from '@node-rs/argon2';
import { turns } from '../db/turns.ts';
import { ServiceError } from '../errors.ts';

export const tooManyAtOnce = (): ServiceError => new ServiceError('UNAVAILABLE');

/**
 * Whoever hashes or checks a password waits for a turn here. Each takes a thread, 19 MiB and tens of milliseconds: a flood of
 * sign-ins must leave room for the rest of the service (decision 106).
 */
export const passwordTurns = turns({
  atOnce: 2,
  waiting: 100,
  withinMs: 5000,
  refusal: tooManyAtOnce,
});

/** The same password from any keyboard: an accent may be typed as one character or as two. */
const asTyped = (password: string): string => password.normalize('NFKC');

/** Argon2id with the library's parameters (19 MiB, two passes), as OWASP advises. */
export const hashPassword = (password: string): Promise<string> =>
  passwordTurns.run(() => hash(asTyped(password)));

/** Nobody's: of the same cost as every other hash, and of a password that was thrown away. */
export const NOBODYS_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$JaFoHSX81SEUbXEyxpIqZw$WehpEXEXAUSCmIfIY2hkoKsrgpf5XM6ikaECUcWRRGE';

/** Inside a turn. Where there is no hash to compare with, it takes as long to say no as where there is. */
export const isPassword = async (passwordHash: string | null, password: string): Promise<boolean> => {
  const same = await verify(passwordHash ?? NOBODYS_HASH, asTyped(password));
  return passwordHash !== null && same;
};
