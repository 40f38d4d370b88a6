import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

// Creates files and folders that only this user may use, whatever the umask is (docs/contract.md).

const OWNER_ONLY = 0o600;

/** It does not open an existing file, since closing it would release the locks of SQLite in this process. */
export const ensurePrivateFile = (file: string): void => {
  try {
    writeFileSync(file, '', { flag: 'wx', mode: OWNER_ONLY });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  restrictPermissions(file);
  // SQLite would not say why it cannot open the file.
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

/** It creates folder by folder: Node's recursive option never ends on a file system without folders. */
const createFolder = (path: string): void => {
  if (!existsSync(dirname(path))) createFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
    chmodSync(path, 0o700);
  } catch (error) {
    // The folder may exist, perhaps created by another process that starts at the same time.
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder) throw error;
  }
};
