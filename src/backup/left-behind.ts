import { createHash, randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, readdir, rm, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DAY_MS } from '../lib/time.ts';

// What a process that was killed leaves: unfinished files and folders with decrypted data. Their names say which process of which
// machine writes them, so the next one that comes by removes what no living process can still use.

const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 6);
/** In a container every process may have the same id. */
const LIFE = randomBytes(3).toString('hex');
const MARK = /([0-9a-f]{6})-(\d{1,10})-([0-9a-f]{6})/;

/** To stand in the name of what is removed at the end. */
export const OWN_MARK = `${HOST}-${process.pid}-${LIFE}`;
export const UNFINISHED_FILE = new RegExp(`\\.${MARK.source}\\.part$`);

/** Processes of other machines cannot be seen from here: no work takes a day without writing. */
const ABANDONED_MS = DAY_MS;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const isLeftBehind = (name: string, { mtimeMs }: Stats): boolean => {
  const [, host, pid, life] = MARK.exec(name) ?? [];
  if (host !== HOST) return Date.now() - mtimeMs > ABANDONED_MS;
  return Number(pid) === process.pid ? life !== LIFE : !isAlive(Number(pid));
};

const OTHERS = 0o077;

/**
 * A folder that another user may write into could lead a removal astray while it runs: only what this user made, and in a folder
 * nobody else can enter. Links are nothing of ours. Windows has neither owners nor modes.
 */
const isOurs = (found: Stats): boolean => {
  if (!found.isFile() && !found.isDirectory()) return false;
  if (process.getuid === undefined) return true;
  return found.uid === process.getuid() && (found.isFile() || (found.mode & OTHERS) === 0);
};

/** Of the names that match. What cannot be read or removed stays: the work that is to begin says so if it matters. */
export const removeLeftBehind = async (folder: string, names: RegExp): Promise<void> => {
  for (const name of (await readdir(folder).catch(() => [])).filter((each) => names.test(each))) {
    const path = join(folder, name);
    const found = await lstat(path).catch(() => null);
    if (!found || !isOurs(found) || !isLeftBehind(name, found)) continue;
    const removing = found.isDirectory() ? rm(path, { recursive: true, force: true }) : unlink(path);
    await removing.catch(() => {});
  }
};
