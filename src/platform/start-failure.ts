import { statSync } from 'node:fs';
import { reasonOf } from '../db/database-errors.ts';

/** An expected failure of a command, which prints it in one line on standard error and exits with status 1. */
export class CliFailure extends Error {}

const LISTEN_ERRORS: Record<string, string> = {
  EADDRINUSE: 'another program listens there already (HOST, PORT)',
  EADDRNOTAVAIL: 'this machine does not have that address (HOST)',
  ENOTFOUND: 'there is no such host (HOST)',
  EAI_AGAIN: 'there is no such host (HOST)',
  EACCES: 'permission denied (PORT)',
};

export const explainListenFailure = (error: unknown, host: string, port: number): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return `cannot listen on ${host}:${port}: ${LISTEN_ERRORS[code ?? ''] ?? message}`;
};

const FILE_ERRORS: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the disk is full',
  ENOTDIR: 'a part of the path is not a folder',
  ENOENT: 'there is no such folder, and it cannot be created',
  EEXIST: 'something that is not a folder is in the way',
  EISDIR: 'it is a folder',
};

/** Describes an error of a file; null if it is another error. */
export const fileError = (error: unknown, ifMissing: string): string | null => {
  const { code = '' } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? ifMissing : (FILE_ERRORS[code] ?? null);
};

export const cannot = (what: 'read' | 'write', path: string, error: unknown): never => {
  const reason = fileError(error, `there is no such ${what === 'read' ? 'file' : 'folder'}`);
  throw reason ? new CliFailure(`cannot ${what} ${path}: ${reason}`) : error;
};

/** Names the owner if that is another user: a command that root ran before the first start leaves files of root. */
const ownerOf = (path: string): string => {
  try {
    const [owner, self] = [statSync(path).uid, process.getuid?.()];
    return owner === self ? '' : `; it belongs to user ${owner}, and this is user ${self}`;
  } catch {
    return '';
  }
};

/** Explains in one line why the service or a command could not start, and what to check. */
export const explainStartFailure = (error: unknown): string => {
  const { code, path, message } = error as NodeJS.ErrnoException;
  const problem = FILE_ERRORS[code ?? ''];
  if (problem && path) return `cannot use ${path}: ${problem}${ownerOf(path)} (DATA_DIR)`;
  const reason = reasonOf(error);
  return reason ? `cannot open the database: ${reason}` : (message ?? String(error));
};
