import { explainDatabaseError } from './db/errors.ts';
import { ServiceError } from './errors.ts';

const SYSTEM_WORDS: Record<string, string> = {
  EADDRINUSE: 'another program listens there already (HOST, PORT)',
  EADDRNOTAVAIL: 'this machine does not have that address (HOST)',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'something that is not a folder is in the way',
};

/** Why the service or a command could not begin, in one line that names what to look at. */
export const explainStartFailure = (error: unknown): string => {
  if (error instanceof ServiceError) return error.message;
  const database = explainDatabaseError(error);
  if (database) return database;
  const { code, path, address, port, message } = error as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  const words = SYSTEM_WORDS[code ?? ''];
  if (words && address) return `cannot listen on ${address}:${port}: ${words}`;
  if (words && path) return `cannot use ${path}: ${words} (DATA_DIR)`;
  return message ?? String(error);
};
