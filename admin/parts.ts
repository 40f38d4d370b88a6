import { build, type InlineConfig, type Rolldown } from 'vite';

// Left to itself the bundler makes a file of every few modules that the same pages share: 75 files for one list. So the app is built
// twice: the first build tells which pages need which modules, the second puts them together by kinds of pages.

/** Pages that people open first, by where their modules are; the shell is around all pages but those for people who are signed out. */
const KINDS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\/session\/sign-in-page\./, ['sign-in']],
  [/\/session\/set-up-page\./, ['set-up']],
  [/\/session\/.*(link|factor)-page\./, ['door']],
  [/\/shell\/shell\./, ['today', 'list', 'detail']],
  [/\/today\/today-page\./, ['today']],
  [/\/returns\/list\/.*-page\./, ['list']],
  [/\/returns\/detail\/.*-page\./, ['detail']],
];
/** What so many of the other pages and dialogs need is one file for all of them. */
const SHARED_BY_MANY = 6;

/** What most kinds of pages need comes with the first of them: a file more costs more than its few bytes. */
const SHARED_BY_MOST = 4;

/** Who needs a module: pages and dialogs by the modules they begin with, null for the app's own beginning. */
type Users = Set<string | null>;

/** The modules of a file and of all files that it imports. */
const modulesOf = (
  file: string,
  chunks: Map<string, Rolldown.OutputChunk>,
  seen = new Set<string>(),
): string[] => {
  const chunk = chunks.get(file);
  if (!chunk || seen.has(file)) return [];
  seen.add(file);
  return [...chunk.moduleIds, ...chunk.imports.flatMap((name) => modulesOf(name, chunks, seen))];
};

const usersOfModules = (files: Rolldown.RolldownOutput['output']): Map<string, Users> => {
  const chunks = new Map(
    files.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file] as const] : [])),
  );
  const users = new Map<string, Users>();
  for (const { fileName, isEntry, isDynamicEntry, facadeModuleId } of chunks.values()) {
    if (!isEntry && !isDynamicEntry) continue;
    for (const module of modulesOf(fileName, chunks)) {
      const known = users.get(module) ?? new Set();
      users.set(module, known.add(isEntry ? null : facadeModuleId));
    }
  }
  return users;
};

const kindsOf = (users: Users): string[] => {
  const kinds = [...users].flatMap((user) => KINDS.find(([path]) => path.test(user ?? ''))?.[1] ?? []);
  return [...new Set(kinds)].sort();
};

/** The name of the file that a module goes into; null leaves it to the bundler. */
export const partOf = async (config: InlineConfig): Promise<(module: string) => string | null> => {
  const built = await build({
    ...config,
    configFile: false,
    logLevel: 'error',
    build: { ...config.build, write: false },
  });
  if (!('output' in built)) throw new Error('not one build');
  const usersOf = usersOfModules(built.output);
  const beginnings = new Set([...usersOf.values()].flatMap((users) => [...users]));
  return (module) => {
    const users = usersOf.get(module) ?? new Set();
    if (users.has(null)) return 'main';
    if (beginnings.has(module) || users.size < 2) return null;
    const kinds = kindsOf(users);
    if (kinds.length >= SHARED_BY_MOST) return 'main';
    return kinds.join('-') || (users.size >= SHARED_BY_MANY ? 'many' : null);
  };
};
