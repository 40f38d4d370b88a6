import { readdirSync } from 'node:fs';
import { extname } from 'node:path';
import { anchorOf } from './markdown.ts';
import { readText, rootPath } from './pages.ts';

// The recipes as one page: the README of each, and every file to copy. So a reader who has only the service has them too.

const LANGUAGES: Record<string, string> = { '.ts': 'ts', '.json': 'json', '.py': 'python', '.php': 'php' };

const readmeOf = (recipe: string): string => readText(`recipes/${recipe}/README.md`).trim();

const filesOf = (recipe: string): string[] =>
  readdirSync(rootPath(`recipes/${recipe}`), { withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ name }) => name)
    // The types are made by the reader.
    .filter((name) => extname(name) in LANGUAGES && !name.endsWith('.d.ts'));

const fileText = (recipe: string, file: string): string =>
  `### ${file}\n\n\`\`\`${LANGUAGES[extname(file)]}\n${readText(`recipes/${recipe}/${file}`).trim()}\n\`\`\``;

/** Where the recipe is on the page: its README's heading. */
export const anchorOfRecipe = (recipe: string): string =>
  anchorOf(readmeOf(recipe).split('\n')[0]?.slice(2) ?? '');

export const recipesText = (): string => {
  const list = readText('recipes/README.md').trim();
  const recipes = [...list.matchAll(/\(([\w-]+)\/README\.md\)/g)].map(([, recipe]) => String(recipe));
  const parts = recipes.map((recipe) =>
    [`#${readmeOf(recipe)}`, ...filesOf(recipe).map((file) => fileText(recipe, file))].join('\n\n'),
  );
  return [list, ...parts].join('\n\n');
};
