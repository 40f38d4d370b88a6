import { accessSync, chmodSync, closeSync, constants, openSync, statSync } from 'node:fs';

const OWNER_ONLY = 0o600;

/** Whatever the umask (docs/contract.md). An existing file is not opened: closing it would drop the locks that SQLite holds here. */
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
