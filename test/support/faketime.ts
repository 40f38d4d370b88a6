import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
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

export interface MovableClock {
  /** Settings for the processes that have this clock. */
  env: Env;
  /** Sets it, while they run. */
  set(toMs: number): void;
}

/** A clock that a test sets, kept in this file; null where that cannot be had. What measures how long something takes is left alone. */
export const movableClock = (file: string): MovableClock | null => {
  const preload = library();
  const write = (offsetMs: number) => {
    writeFileSync(`${file}.new`, `${offsetMs < 0 ? '-' : '+'}${(Math.abs(offsetMs) / 1000).toFixed(3)}s\n`);
    // Whoever reads it meanwhile sees the old time or the new one.
    renameSync(`${file}.new`, file);
  };
  if (!preload) return null;
  write(0);
  return {
    env: {
      LD_PRELOAD: preload,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    set: (toMs) => write(toMs - Date.now()),
  };
};
