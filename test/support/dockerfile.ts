import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';

// Replays a Dockerfile's files without a container engine: each stage is a folder, COPY copies, RUN runs in it. What images, users
// and networks do is not replayed.

export interface Instruction {
  name: string;
  rest: string;
}

/** Comments go, and lines that end with a backslash are joined. */
export const instructionsOf = (text: string): Instruction[] =>
  text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
      return { name, rest };
    });

interface Stage {
  root: string;
  folder: string;
}

interface Replay {
  /** What `docker build` is given. */
  context: string;
  /** An empty folder, below which each stage has one of its own. */
  home: string;
  env: Record<string, string>;
}

const inside = ({ root, folder }: Stage, path: string): string =>
  join(root, path.startsWith('/') ? path : join(folder, path));

const copy = (stages: Map<string, Stage>, at: Stage, rest: string, context: string): void => {
  const [, from, paths = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(rest) ?? [];
  const source = from ? (stages.get(from)?.root ?? '') : context;
  const names = paths.split(/\s+/);
  const target = names.pop() ?? '';
  for (const pattern of names) {
    const found = globSync(join(source, pattern));
    if (found.length === 0) throw new Error(`COPY ${rest}: nothing is there`);
    for (const file of found)
      cpSync(file, join(inside(at, target), target.endsWith('/') ? basename(file) : ''), {
        recursive: true,
        verbatimSymlinks: true,
      });
  }
};

/** A path from the root means the stage's own. */
const run = (at: Stage, command: string, env: Record<string, string>): void => {
  const own = command.replace(/ \/(?=\w)/g, ` ${at.root}/`);
  execFileSync('sh', ['-ec', own], { cwd: join(at.root, at.folder), env, stdio: 'pipe' });
};

/** The folder of the last stage. */
export const replay = (text: string, { context, home, env }: Replay): string => {
  const stages = new Map<string, Stage>();
  let at: Stage = { root: home, folder: '/' };
  const steps: Record<string, (rest: string) => void> = {
    FROM(rest) {
      const name = / AS (\S+)$/.exec(rest)?.[1] ?? 'last';
      at = { root: join(home, name), folder: '/' };
      stages.set(name, at);
      mkdirSync(at.root);
    },
    WORKDIR(rest) {
      at.folder = rest;
      mkdirSync(join(at.root, rest), { recursive: true });
    },
    COPY: (rest) => copy(stages, at, rest, context),
    RUN: (rest) => run(at, rest, env),
  };
  for (const { name, rest } of instructionsOf(text)) steps[name]?.(rest);
  return at.root;
};
