import type { Article } from './markdown.ts';
import { addressOf, type DocsPage, PAGES } from './pages.ts';

// The frame around every page: top bar, navigation, contents, and the way on.

/** As in the admin app: admin/src/ui/mark.tsx. */
const MARK =
  '<rect width="24" height="24" rx="6.5" fill="#4151bf"/><path d="M6.6 9.2h7.2a4 4 0 0 1 0 8H9.2M9.9 5.6 6.3 9.2l3.6 3.6" fill="none" stroke="#fff" stroke-width="2.1" stroke-linecap="round" stroke-linejoin="round"/>';
const LOGO = `<svg viewBox="0 0 24 24" aria-hidden="true">${MARK}</svg>`;
export const FAVICON = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">${MARK}</svg>`)}`;

export interface Assets {
  frameStyle: string;
  articleStyle: string;
  /** Of most of the text; the style names the others. */
  font: string;
  /** Before the page is drawn: the reader's choice of light or dark. */
  theme: string;
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

const head = (page: DocsPage, title: string, assets: Assets): string => `<head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="description" content="${escaped(page.summary)}" />
    <title>${escaped(title)}</title>
    <link rel="icon" href="${FAVICON}" />
    <link rel="preload" as="font" type="font/woff2" crossorigin href="assets/${assets.font}" />
    <script src="assets/${assets.theme}"></script>
    ${stylesOf(page, assets)}
    <link rel="alternate" type="text/markdown" href="${page.name}.md" />
    <script src="assets/${assets.script}" data-search-index="assets/${assets.searchIndex}" defer></script>
  </head>`;

const SEARCH_ICON =
  '<svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 4 4"/></svg>';
const MENU_ICON = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 4h12M2 8h12M2 12h12"/></svg>';

const MOON_ICON =
  '<svg class="to-dark" viewBox="0 0 16 16" aria-hidden="true"><path d="M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7Z"/></svg>';
const SUN_ICON =
  '<svg class="to-light" viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="3"/><path d="M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1"/></svg>';

const TOP_BAR = `<header class="top">
      <button type="button" class="icon-button" id="menu-button" aria-expanded="false" aria-controls="pages">${MENU_ICON}<span class="unseen">Menu</span></button>
      <a class="brand" href="./">${LOGO}<span>Handback</span> <span class="brand-part">Docs</span></a>
      <button type="button" class="search-button" id="search-button" aria-label="Search">${SEARCH_ICON}<span>Search</span><kbd>/</kbd></button>
      <a class="top-link" href="reference">Reference</a>
      <a class="top-link" href="../admin/">Open app</a>
      <button type="button" class="icon-button" id="theme-button">${MOON_ICON}${SUN_ICON}<span class="unseen">Switch between light and dark</span></button>
    </header>`;

const SEARCH_DIALOG = `<dialog id="search" aria-label="Search the documentation">
      <div class="search-field">${SEARCH_ICON}<input id="search-input" type="text" enterkeyhint="search" placeholder="Search the documentation" aria-label="Search the documentation" role="combobox" aria-expanded="false" aria-controls="search-results" aria-autocomplete="list" autocomplete="off" spellcheck="false" /><button type="button" id="search-close">Close</button></div>
      <p id="search-note" role="status"></p>
      <ul id="search-results" role="listbox" aria-label="Results"></ul>
    </dialog>`;

const groups = [...new Set(PAGES.map(({ group }) => group))];

const navigation = (current: string): string => {
  const lists = groups.map((group) => {
    const items = PAGES.filter((page) => page.group === group).map(
      ({ name, label }) =>
        `<li><a href="${addressOf(name)}"${name === current ? ' aria-current="page"' : ''}>${label}</a></li>`,
    );
    return `<p class="group">${group}</p><ul>${items.join('')}</ul>`;
  });
  return `<nav class="pages" id="pages" aria-label="Documentation">${lists.join('')}</nav>`;
};

/** Around a page that is no article: on a wide screen it has a navigation of its own. */
export const layOutBare = (
  page: DocsPage,
  title: string,
  assets: Assets,
  body: string,
): string => `<!doctype html>
<html lang="en" class="${page.name}">
  ${head(page, title, assets)}
  <body>
    ${TOP_BAR}
    ${navigation(page.name)}
    ${body}
    ${SEARCH_DIALOG}
  </body>
</html>
`;

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
    ${TOP_BAR}
    <div class="frame">
      ${navigation(page.name)}
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
    ${SEARCH_DIALOG}
  </body>
</html>
`;
