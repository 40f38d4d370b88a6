import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Env } from './process.ts';

const HOLD = `
  import Sqlite from 'better-sqlite3';
  const db = new Sqlite(process.argv[1]);
  db.exec('begin immediate');
  process.stdout.write('held');
  process.stdin.resume().on('end', () => { db.exec('rollback'); process.exit(); });
`;

/** Another program that holds the write lock of a server's SQLite file until it is told to let go. */
export const holdWriteLock = async (env: Env): Promise<{ letGo(): Promise<void> }> => {
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', HOLD, join(env['DATA_DIR'] as string, 'handback.sqlite')],
    { cwd: fileURLToPath(new URL('../../', import.meta.url)), stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const letGo = async () => {
    child.stdin.end();
    await ended;
  };
  onTestFinished(letGo);
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    ended.then(() => reject(new Error('the lock could not be taken')));
  });
  return { letGo };
};
