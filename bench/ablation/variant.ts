import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// The service without one of its mechanisms: a copy of its sources in which a few lines are changed. So what runs in production
// has no switches.

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCES = ['bin', 'contract', 'src', 'package.json'];

/** In this file this text, which must be there exactly once, becomes that one. */
export interface Edit {
  file: string;
  find: string;
  replace: string;
}

export interface Variant {
  /** The folder that has `bin/` and `src/`. */
  root: string;
  remove(): void;
}

export const edited = (text: string, { file, find, replace }: Edit): string => {
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new Error(`${file} has ${parts.length - 1} places, not one, that read: ${find}`);
  return parts.join(replace);
};

/** Below the project, so that packages are found from there. */
export const makeVariant = (edits: Edit[]): Variant => {
  const home = join(ROOT, 'dist');
  mkdirSync(home, { recursive: true });
  const root = mkdtempSync(join(home, 'without-'));
  for (const name of SOURCES) cpSync(join(ROOT, name), join(root, name), { recursive: true });
  for (const edit of edits) {
    const path = join(root, edit.file);
    writeFileSync(path, edited(readFileSync(path, 'utf8'), edit));
  }
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
};
