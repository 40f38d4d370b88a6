import { createHash, randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, readdir, rm, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DAY_MS } from '../lib/time.ts';

// A killed process leaves unfinished files and folders with decrypted data behind. Their names contain the machine and the
// process that wrote them, so a later process can remove those that no living process uses.

const HOST_HASH = createHash('sha256').update(hostname()).digest('hex').slice(0, 6);
/** A random part of the name, since every process in a container may have the same id. */
const PROCESS_TOKEN = randomBytes(3).toString('hex');
const MARK_PATTERN = /([0-9a-f]{6})-(\d{1,10})-([0-9a-f]{6})/;

/** The mark of this process in the names of its temporary files and folders. */
export const OWN_MARK = `${HOST_HASH}-${process.pid}-${PROCESS_TOKEN}`;
export const UNFINISHED_FILE = new RegExp(`\\.${MARK_PATTERN.source}\\.part$`);

/** Processes of other machines are not visible here, but no process works for a day without writing. */
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
  const [, host, pid, token] = MARK_PATTERN.exec(name) ?? [];
  if (host !== HOST_HASH) return Date.now() - mtimeMs > ABANDONED_MS;
  return Number(pid) === process.pid ? token !== PROCESS_TOKEN : !isAlive(Number(pid));
};

const OTHERS_ACCESS = 0o077;

/**
 * A removal could be misled in a folder that another user can write to. So only files and folders of this user are removed, and
 * folders only if nobody else can enter them. We never create links. Windows has neither owners nor modes.
 */
const isOurs = (found: Stats): boolean => {
  if (!found.isFile() && !found.isDirectory()) return false;
  if (process.getuid === undefined) return true;
  return found.uid === process.getuid() && (found.isFile() || (found.mode & OTHERS_ACCESS) === 0);
};

/** Removes abandoned files with matching names. Errors are ignored, since the work that follows reports them if they matter. */
export const removeLeftBehind = async (folder: string, names: RegExp): Promise<void> => {
  for (const name of (await readdir(folder).catch(() => [])).filter((each) => names.test(each))) {
    const path = join(folder, name);
    const found = await lstat(path).catch(() => null);
    if (!found || !isOurs(found) || !isLeftBehind(name, found)) continue;
    const removing = found.isDirectory() ? rm(path, { recursive: true, force: true }) : unlink(path);
    await removing.catch(() => {});
  }
};
