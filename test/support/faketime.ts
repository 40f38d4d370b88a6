import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from './process.ts';

/** Where Debian's package faketime puts its library, which gives a process another clock. */
const library = (): string | null =>
  existsSync('/usr/lib')
    ? (readdirSync('/usr/lib')
        .map((folder) => join('/usr/lib', folder, 'faketime', 'libfaketime.so.1'))
        .find((file) => existsSync(file)) ?? null)
    : null;

/** Settings for a process whose clock is wrong by so much, `+2s` for example; null where that cannot be had. */
export const wrongClock = (by: string): Env | null => {
  const file = library();
  return file ? { LD_PRELOAD: file, FAKETIME: by } : null;
};
