import type { Article } from './markdown.ts';
import { addressOf, type DocsPage, PAGES } from './pages.ts';

// The frame around every page: top bar, navigation, contents, and the way on.

/** The same arrow as in the admin app. */
export const FAVICON =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"%3E%3Cpath d="M6 2 1 7l5 5V9h4a3 3 0 0 1 0 6h5a6 6 0 0 0-5-10H6z" fill="%231c7ed6"/%3E%3C/svg%3E';

export interface Assets {
  frameStyle: string;
  articleStyle: string;
  script: string;
  searchIndex: string;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** The reference is no article: it brings styles of its own. */
const stylesOf = ({ name }: DocsPage, { frameStyle, articleStyle }: Assets): string =>
  (name === 'reference' ? [frameStyle] : [frameStyle, articleStyle])
    .map((style) => `<link rel="stylesheet" href="assets/${style}" />`)
    .join('');

export const head = (page: DocsPage, title: string, assets: Assets): string => `<head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="description" content="${escaped(page.summary)}" />
    <title>${escaped(title)}</title>
    <link rel="icon" href='${FAVICON}' />
    ${stylesOf(page, assets)}
    <link rel="alternate" type="text/markdown" href="${page.name}.md" />
    <script src="assets/${assets.script}" data-search-index="assets/${assets.searchIndex}" defer></script>
  </head>`;

const LOGO =
  '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M6 2 1 7l5 5V9h4a3 3 0 0 1 0 6h5a6 6 0 0 0-5-10H6z"/></svg>';
const SEARCH_ICON =
  '<svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 4 4"/></svg>';
const MENU_ICON = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 4h12M2 8h12M2 12h12"/></svg>';

export const topBar = (withMenu: boolean): string => `<header class="top">
      ${withMenu ? `<button type="button" class="icon-button" id="menu-button" aria-expanded="false" aria-controls="pages">${MENU_ICON}<span class="unseen">Menu</span></button>` : ''}
      <a class="brand" href="./">${LOGO}<span>Handback</span> <span class="brand-part">Docs</span></a>
      <button type="button" class="search-button" id="search-button">${SEARCH_ICON}<span>Search</span><kbd>/</kbd></button>
      <a class="top-link" href="reference">Reference</a>
    </header>`;

export const searchDialog = `<dialog id="search" aria-label="Search the documentation">
      <div class="search-field">${SEARCH_ICON}<input id="search-input" type="text" enterkeyhint="search" placeholder="Search the documentation" aria-label="Search the documentation" role="combobox" aria-expanded="false" aria-controls="search-results" aria-autocomplete="list" autocomplete="off" spellcheck="false" /><button type="button" id="search-close">Close</button></div>
      <p id="search-note" role="status"></p>
      <ul id="search-results" role="listbox" aria-label="Results"></ul>
    </dialog>`;

const groups = [...new Set(PAGES.map(({ group }) => group))];

const navigation = (current: string): string =>
  groups
    .map((group) => {
      const items = PAGES.filter((page) => page.group === group).map(
        ({ name, label }) =>
          `<li><a href="${addressOf(name)}"${name === current ? ' aria-current="page"' : ''}>${label}</a></li>`,
      );
      return `<p class="group">${group}</p><ul>${items.join('')}</ul>`;
    })
    .join('');

/** A long code may go on in the next line after an underscore. */
const breakable = (text: string): string => text.replaceAll('_', '_<wbr />');

const contents = ({ sections }: Article): string => {
  const items = sections
    .filter(({ level, id }) => id && level <= 3)
    .map(
      ({ id, heading, level }) =>
        `<li class="level-${level}"><a href="#${id}">${breakable(escaped(heading))}</a></li>`,
    );
  return items.length < 2
    ? ''
    : `<nav class="contents" aria-label="On this page"><p class="group">On this page</p><ul>${items.join('')}</ul></nav>`;
};

const wayOn = (current: string): string => {
  const at = PAGES.findIndex(({ name }) => name === current);
  const link = (page: DocsPage | undefined, word: string): string =>
    page
      ? `<a class="${word.toLowerCase()}" href="${addressOf(page.name)}"><span>${word}</span>${page.label}</a>`
      : '';
  return `<nav class="way-on" aria-label="Previous and next page">${link(PAGES[at - 1], 'Previous')}${link(PAGES[at + 1], 'Next')}</nav>`;
};

/** The pages' script fills in the reader's own address. */
const WITHOUT_SCRIPT =
  '<noscript><p class="note">The host name in the examples stands for that of the service that you use.</p></noscript>';

export const layOut = (page: DocsPage, article: Article, assets: Assets): string => `<!doctype html>
<html lang="en">
  ${head(page, page.name === 'index' ? 'Handback documentation' : `${article.title} · Handback`, assets)}
  <body>
    <a class="skip" href="#content">Skip to content</a>
    ${topBar(true)}
    <div class="frame">
      <nav class="pages" id="pages" aria-label="Documentation">${navigation(page.name)}</nav>
      <main id="content" tabindex="-1">
        ${WITHOUT_SCRIPT}
        <article>
${article.html}        </article>
        <footer>
          ${wayOn(page.name)}
          <p class="as-markdown"><a href="${page.name}.md">This page as Markdown</a> · <a href="../llms.txt">All pages for language models</a></p>
        </footer>
      </main>
      ${contents(article)}
    </div>
    ${searchDialog}
  </body>
</html>
`;
