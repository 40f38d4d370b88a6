import { readFile } from 'node:fs/promises';
import type { Plugin } from 'vite';

// The catalogue is one file, so that a second language is a second file. Left to itself the bundler puts all of it into the first load;
// this makes a module of each section, so that a page loads the sections that it uses.

const CATALOGUE = /\/src\/texts\.ts(?:\?(\w+))?$/;
/** From its declaration to the brace in the first column that closes it. */
const SECTION = /^const (\w+) = \{(?:\}|.*?^\});$/gms;
const ALL = 'all';

export const textsByPage = (): Plugin => ({
  name: 'texts-by-page',
  apply: 'build',
  async load(id) {
    const [, part] = CATALOGUE.exec(id) ?? [];
    if (!CATALOGUE.test(id)) return null;
    const path = id.split('?')[0] ?? id;
    if (part === undefined) return `export * as texts from '${path}?${ALL}';`;
    const catalogue = await readFile(path, 'utf8');
    const sections = new Map([...catalogue.matchAll(SECTION)].map(([source, name = '']) => [name, source]));
    if (part === ALL)
      return [...sections.keys()].map((name) => `export { ${name} } from '${path}?${name}';`).join('\n');
    const imports = catalogue.match(/^import .*$/gm) ?? [];
    // Without this note the sections that import something would all be kept.
    return { code: `${imports.join('\n')}\nexport ${sections.get(part)}`, moduleSideEffects: false };
  },
});
