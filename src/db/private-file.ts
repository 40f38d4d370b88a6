import { accessSync, chmodSync, closeSync, constants, openSync, statSync } from 'node:fs';

const OWNER_ONLY = 0o600;

/**
 * Makes a file that its owner alone can read, whatever the umask, or narrows the one that is there (docs/contract.md). A file that exists is never
 * opened here: closing it would drop the locks that SQLite holds on it in this process.
 */
export const keepPrivate = (file: string): void => {
  try {
    closeSync(openSync(file, 'wx', OWNER_ONLY));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  narrow(file);
  // SQLite would not say why it cannot open it.
  accessSync(file, constants.R_OK | constants.W_OK);
};

/** Takes away what others may do with a file, if it is there. */
export const narrow = (file: string): void => {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode !== undefined && (mode & 0o777) !== OWNER_ONLY) chmodSync(file, OWNER_ONLY);
};
