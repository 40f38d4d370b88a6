import { hash, verify } from '@node-rs/argon2';

/** The same password from any keyboard: an accent may be typed as one character or as two. */
const asTyped = (password: string): string => password.normalize('NFKC');

/** Argon2id with the library's parameters (19 MiB, two passes), as OWASP advises. */
export const hashPassword = (password: string): Promise<string> => hash(asTyped(password));

/** Nobody's: of the same cost as every other hash, and of a password that was thrown away. */
export const NOBODYS_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$JaFoHSX81SEUbXEyxpIqZw$WehpEXEXAUSCmIfIY2hkoKsrgpf5XM6ikaECUcWRRGE';

/** Where there is no hash to compare with, it takes as long to say no as where there is. */
export const isPassword = async (passwordHash: string | null, password: string): Promise<boolean> => {
  const same = await verify(passwordHash ?? NOBODYS_HASH, asTyped(password));
  return passwordHash !== null && same;
};
