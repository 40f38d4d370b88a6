import { createHash, randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
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

const isLeftBehind = async (path: string, name: string): Promise<boolean> => {
  const [, host, pid, life] = MARK.exec(name) ?? [];
  if (host !== HOST) return Date.now() - (await stat(path)).mtimeMs > ABANDONED_MS;
  return Number(pid) === process.pid ? life !== LIFE : !isAlive(Number(pid));
};

/** Of the names that match. What cannot be read or removed stays: the work that is to begin says so if it matters. */
export const removeLeftBehind = async (folder: string, names: RegExp): Promise<void> => {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    if (!names.test(name) || !(await isLeftBehind(path, name).catch(() => false))) continue;
    await rm(path, { recursive: true, force: true }).catch(() => {});
  }
};
