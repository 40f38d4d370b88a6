import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { CliFailure } from '../output.ts';
import type { Place } from './follow.ts';

// Where `events --forward-to` was when it ended, in a file of the person who runs it.

const Kept = z.object({ feed: z.string(), cursor: z.string().nullable(), lastId: z.string().nullable() });

export interface PlaceFile {
  path: string;
  /** null where none was kept yet. */
  read(): Place | null;
  /** Atomic: after a crash there is the old place or the new one. Throws where somebody else keeps a place there too. */
  write(place: Place): void;
}

/** One file for each feed and key. Its name is a hash of both, and neither it nor the file holds the key. */
export const placeFile = (env: NodeJS.ProcessEnv, feed: string, key: string): PlaceFile => {
  const hash = createHash('sha256').update(`place in an event feed\n${feed}\n${key}`).digest('hex');
  const path = join(stateFolder(env), `events-${hash.slice(0, 32)}.json`);
  let known = textIn(path);
  return {
    path,
    read() {
      if (known === null) return null;
      const kept = Kept.safeParse(parsed(known));
      if (kept.success) return { cursor: kept.data.cursor, lastId: kept.data.lastId };
      throw new CliFailure(`${path} cannot be read: say where to begin with --after, or delete the file`);
    },
    write({ cursor, lastId }) {
      const found = textIn(path);
      if (found !== null && found !== known)
        throw new CliFailure(
          `another handback events --forward-to with the same key keeps its place in ${path}: end one of them`,
        );
      known = `${JSON.stringify({ feed, cursor, lastId })}\n`;
      writeWhole(path, known);
    },
  };
};

/** By the XDG convention: what should outlive a restart but is no one's data. */
const stateFolder = (env: NodeJS.ProcessEnv): string => {
  const given = env['XDG_STATE_HOME'] ?? '';
  return join(isAbsolute(given) ? given : join(homedir(), '.local', 'state'), 'handback');
};

const textIn = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw cannotUse(path, error);
  }
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // The schema refuses it next.
    return null;
  }
};

const writeWhole = (path: string, text: string): void => {
  const beside = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(beside, text, { mode: 0o600, flush: true });
    renameSync(beside, path);
    syncFolder(dirname(path));
  } catch (error) {
    throw cannotUse(path, error);
  }
};

/** The new name is on disk too. Windows cannot open a folder, and needs no such step. */
const syncFolder = (folder: string): void => {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
};

const cannotUse = (path: string, error: unknown): CliFailure =>
  new CliFailure(`cannot keep the place in ${path}: ${(error as NodeJS.ErrnoException).code ?? error}`);
