import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Env, temporaryFolder } from './process.ts';
import { toolPath } from './tools.ts';

// Other clocks for processes, by Debian's faketime; a test that uses them says needs('faketime').

/** Settings for a process whose clock is wrong by so much, `+2s` for example. */
export const wrongClock = (by: string): Env => ({ LD_PRELOAD: toolPath('faketime'), FAKETIME: by });

/** A clock that a test sets. What measures how long something takes is left alone. */
export const movableClock = () => {
  const folder = temporaryFolder();
  // PostgreSQL reads it as another user.
  chmodSync(folder, 0o755);
  const file = join(folder, 'clock');
  const write = (offsetMs: number) => {
    writeFileSync(`${file}.new`, `${offsetMs < 0 ? '-' : '+'}${(Math.abs(offsetMs) / 1000).toFixed(3)}s\n`);
    // A process that reads it meanwhile sees the old time or the new one.
    renameSync(`${file}.new`, file);
  };
  write(0);
  return {
    env: {
      LD_PRELOAD: toolPath('faketime'),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    set: (toMs: number) => write(toMs - Date.now()),
  };
};
export type SetClock = ReturnType<typeof movableClock>;
