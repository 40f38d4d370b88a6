import { hash } from '@node-rs/argon2';

/** Long ones are refused before they are hashed, since hashing is what costs. */
export const PASSWORD_LENGTH = { least: 8, most: 200 } as const;

/** Argon2id with the library's parameters (19 MiB, two passes), as OWASP advises. */
export const hashPassword = (password: string): Promise<string> => hash(password);
