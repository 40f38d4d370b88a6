import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const ROOM_BYTES = 2 ** 30;

const hasRoom = (folder: string): boolean => {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > ROOM_BYTES;
  } catch {
    return false;
  }
};

/** In memory where the machine has such a place: SQLite waits for the disk at every commit, and no test takes the power away. */
const PARENT = hasRoom(MEMORY) ? MEMORY : tmpdir();

export const newFolder = (): string => mkdtempSync(join(PARENT, 'handback-test-'));
