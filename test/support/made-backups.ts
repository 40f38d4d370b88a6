import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { cliHere, runHere } from './commands-here.ts';
import { newFolder } from './folders.ts';
import { freshDatabase } from './harness.ts';
import { type Env, printed, SECRET_KEY, temporaryFolder } from './process.ts';
import { addPerson, makeShop } from './shops.ts';

// Backups that tests look into and restore.

export const backupFile = (): string => join(temporaryFolder(), 'handback.backup');

export const restore = (file: string, env: Env) => printed(runHere, ['restore', file], env);

/** Runs a command that fails; gives back its one line. */
export const failing = async (args: string[], env: Env, runs = runHere): Promise<string> => {
  const { status, stdout, stderr } = await runs([...args, '--json'], env);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^handback: [^\n]+\n$/);
  return stderr;
};

interface BackedUp {
  env: Env;
  file: string;
  key: string;
  secrets: string[];
}

/** Adds a shop to a database, and makes a backup of it. */
const backUp = async (env: Env): Promise<BackedUp> => {
  const { shopId, key, webhookSecret } = await makeShop(env);
  const { password } = await addPerson(env, shopId);
  const file = join(newFolder(), 'handback.backup');
  await cliHere(['backup', file], env);
  return { env, file, key, secrets: [key, webhookSecret, password] };
};

const shareOne = async () => {
  const { env, drop } = await freshDatabase();
  const made = await backUp({ ...env, SECRET_KEY });
  const forget = async () => {
    rmSync(join(made.file, '..'), { recursive: true });
    await drop();
  };
  return { made, forget };
};

/** One database for all tests of a file that leave it as it is; each gets a copy of its backup. */
export const sharedBackup = (): (() => Promise<BackedUp>) => {
  let shared: Awaited<ReturnType<typeof shareOne>> | null = null;
  afterAll(() => shared?.forget());
  return async () => {
    shared ??= await shareOne();
    const file = backupFile();
    copyFileSync(shared.made.file, file);
    return { ...shared.made, file };
  };
};
