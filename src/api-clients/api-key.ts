import { randomBytes } from 'node:crypto';
import { sha256 } from '../secrets.ts';

const KEY_PREFIX = 'handback_ext_';
const SECRET_PREFIX = 'whsec_';
/** 192 random bits cannot be guessed, so a plain SHA-256 is enough to store them. */
const RANDOM_BYTES = 24;
const KEY = new RegExp(`^${KEY_PREFIX}[0-9a-f]{${RANDOM_BYTES * 2}}$`);

export const newApiKey = (): string => KEY_PREFIX + randomBytes(RANDOM_BYTES).toString('hex');
export const newWebhookSecret = (): string => SECRET_PREFIX + randomBytes(RANDOM_BYTES).toString('hex');
export const isApiKey = (value: string): boolean => KEY.test(value);
export const hashOfKey = sha256;
