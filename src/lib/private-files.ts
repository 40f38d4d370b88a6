import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

// Files and folders that only this user may use, whatever the umask (docs/contract.md).

const OWNER_ONLY = 0o600;

/** An existing file is not opened: closing it would drop the locks that SQLite holds here. */
export const ensurePrivateFile = (file: string): void => {
  try {
    writeFileSync(file, '', { flag: 'wx', mode: OWNER_ONLY });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  restrictPermissions(file);
  // SQLite would not say why it cannot open it.
  accessSync(file, constants.R_OK | constants.W_OK);
};

export const restrictPermissions = (file: string): void => {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode !== undefined && (mode & 0o777) !== OWNER_ONLY) chmodSync(file, OWNER_ONLY);
};

export const ensurePrivateFolder = (path: string): void => {
  createFolder(path);
  accessSync(path, constants.W_OK);
};

/** Folder by folder: Node's own recursive way never ends where a file system takes no folders. */
const createFolder = (path: string): void => {
  if (!existsSync(dirname(path))) createFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
    chmodSync(path, 0o700);
  } catch (error) {
    // There already, perhaps by another process that starts at the same time.
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder) throw error;
  }
};
