import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { scaled } from './machine.ts';
import { NOBODY } from './postgres-server.ts';
import { temporaryFolder } from './process.ts';

export interface SmallDisk {
  /** For PostgreSQL to write to. */
  folder: string;
  /** Makes room on it. */
  free(): void;
}

/** A file system that is full but for so many megabytes, until the test frees some; null where none may be mounted. */
export const smallDisk = (roomMb: number): SmallDisk | null => {
  if (process.env['TEST_TOOLS'] === 'none') return null;
  const folder = temporaryFolder();
  const heldMb = 64;
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${roomMb + heldMb}m`, 'tmpfs', folder], {
      stdio: 'ignore',
      timeout: scaled(10_000),
    });
  } catch {
    return null;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder], { timeout: scaled(10_000) }));
  const held = join(folder, 'held');
  writeFileSync(held, Buffer.alloc(heldMb * 1024 ** 2));
  const room = join(folder, 'room');
  mkdirSync(room);
  // Whoever may mount is root, and then PostgreSQL runs as somebody else.
  chownSync(room, NOBODY, NOBODY);
  return { folder: room, free: () => rmSync(held) };
};
