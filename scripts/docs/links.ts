import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { fileOf, PAGES, rootPath } from './pages.ts';
import { anchorOfRecipe } from './recipes-page.ts';

// Links between files of the repository become links between pages of the site. A file that is no page is named instead.

const LINK = /\[([^\]]+)\]\((?!https?:)([^)\s#]+)(#[^)\s]*)?\)/g;

/** The page of a file, with the place in it. */
const pageAt = (path: string, anchor: string): string | undefined => {
  const [, recipe] = /^recipes\/([\w-]+)\/README\.md$/.exec(path) ?? [];
  if (recipe) return `recipes.md#${anchorOfRecipe(recipe)}`;
  const page = PAGES.find((each) => fileOf(each) === path);
  return page && `${page.name}.md${anchor}`;
};

/** `from` is the file in the repository that the text comes from. */
export const withPageLinks = (text: string, from: string): string =>
  text.replace(LINK, (_, label: string, href: string, anchor = '') => {
    const path = posix.join(posix.dirname(from), href);
    const page = pageAt(path, anchor);
    if (page) return `[${label}](${page})`;
    if (!existsSync(rootPath(path))) throw new Error(`${from} links to ${href}, which does not exist`);
    return label === path ? `\`${path}\`` : `${label} (\`${path}\`)`;
  });
