import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import http from 'highlight.js/lib/languages/http';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import MarkdownIt from 'markdown-it';
import { addressOf, EXAMPLE_URL, PAGES } from './pages.ts';
import { PICTURES, type PictureName } from './pictures.ts';

// Markdown → the article of a page. No inline style and no inline script: the pages' policy forbids both.

const LANGUAGES = { sh: bash, http, java, js: javascript, json, php, python, ts: typescript };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

const LANGUAGE_LABELS: Record<string, string> = {
  sh: 'Shell',
  http: 'HTTP',
  java: 'Java',
  js: 'Node',
  json: 'JSON',
  php: 'PHP',
  python: 'Python',
  ts: 'TypeScript',
};

export interface Section {
  /** Of the heading; empty for what comes before the first one. */
  id: string;
  heading: string;
  level: number;
  text: string;
  code: string;
  /** Its first paragraph. */
  lead: string;
}

export interface Article {
  title: string;
  html: string;
  sections: Section[];
}

const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false });
const { escapeHtml } = markdown.utils;

const withExampleUrl = (html: string): string =>
  html.replaceAll(EXAMPLE_URL, `<span data-base-url>${EXAMPLE_URL}</span>`);

/** An error code is its own anchor; other headings are put in lower case with hyphens. */
export const anchorOf = (heading: string): string =>
  /^[A-Z][A-Z_]+$/.test(heading)
    ? heading
    : heading
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-|-$/g, '');

/** The first word says the language; `second-terminal` marks what goes on running there. */
markdown.renderer.rules.fence = (tokens, index) => {
  const { info = '', content = '' } = tokens[index] ?? {};
  const [language = '', ...marks] = info.trim().split(/\s+/);
  const code = language in LANGUAGES ? hljs.highlight(content, { language }).value : escapeHtml(content);
  const label = marks.includes('second-terminal') ? 'Second terminal' : (LANGUAGE_LABELS[language] ?? 'Text');
  return `<div class="code"><p class="code-label">${label}</p><pre><code>${withExampleUrl(code.trimEnd())}</code></pre></div>\n`;
};
/** Narrow screens may break a long name after an underscore, and the name of an event after its dot. */
const breakable = (html: string): string =>
  html.includes('<') ? html : html.replaceAll(/_|(?<=^(?:offline_repair|trade_return))\./g, '$&<wbr>');

/** Up to this length a name is kept on one line of a table. */
const LONGEST_WORD = 32;
markdown.renderer.rules.code_inline = (tokens, index) => {
  const { content = '' } = tokens[index] ?? {};
  const open = content.length <= LONGEST_WORD ? '<code class="word">' : '<code>';
  return `${open}${breakable(withExampleUrl(escapeHtml(content)))}</code>`;
};
markdown.renderer.rules.table_open = () => '<div class="table"><table>\n';
markdown.renderer.rules.table_close = () => '</table></div>\n';
markdown.renderer.rules.blockquote_open = () => '<div class="note">\n';
markdown.renderer.rules.blockquote_close = () => '</div>\n';

/** `other.md#part` in the repository is `other#part` on the site; what the service serves is linked from where the page is. */
const siteLink = (href: string): string => {
  if (href.startsWith(EXAMPLE_URL)) return `..${href.slice(EXAMPLE_URL.length)}`;
  const [, file, anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (file === undefined) return href;
  if (!PAGES.some(({ name }) => name === file)) throw new Error(`a link to ${href}, which is no page`);
  return `${addressOf(file)}${anchor}`;
};
markdown.core.ruler.push('site-links', ({ tokens }) => {
  for (const { children } of tokens)
    for (const token of children ?? [])
      if (token.type === 'link_open') token.attrSet('href', siteLink(String(token.attrGet('href'))));
});

/** A heading without words is no heading to a screen reader. */
markdown.core.ruler.push('empty-headings', ({ tokens }) => {
  for (const [i, token] of tokens.entries()) {
    const close = tokens[i + 2];
    if (token.type !== 'th_open' || tokens[i + 1]?.content !== '' || !close) continue;
    token.tag = 'td';
    close.tag = 'td';
  }
});

type Token = ReturnType<typeof markdown.parse>[number];
const plainText = (token: Token): string =>
  token.type === 'inline'
    ? (token.children ?? []).map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('')
    : token.content;

const addAnchors = (tokens: Token[]): void => {
  for (const [i, token] of tokens.entries()) {
    if (token.type !== 'heading_open' || token.tag === 'h1') continue;
    const heading = tokens[i + 1] as Token;
    const id = anchorOf(plainText(heading));
    token.attrSet('id', id);
    const link = `<a class="anchor" href="#${id}" aria-label="Link to this section: ${escapeHtml(plainText(heading))}">#</a>`;
    const close = tokens[i + 2] as Token;
    close.meta = { link };
  }
};
markdown.renderer.rules.heading_close = (tokens, index) =>
  `${tokens[index]?.meta?.link ?? ''}</${tokens[index]?.tag}>\n`;

const sectionsOf = (tokens: Token[]): Section[] => {
  const sections: Section[] = [{ id: '', heading: '', level: 1, text: '', code: '', lead: '' }];
  for (const [i, token] of tokens.entries()) {
    const isHeading = tokens[i - 1]?.type === 'heading_open';
    if (token.type === 'heading_open' && token.tag !== 'h1')
      sections.push({
        id: String(token.attrGet('id')),
        heading: plainText(tokens[i + 1] as Token),
        level: Number(token.tag.slice(1)),
        text: '',
        code: '',
        lead: '',
      });
    else if (!isHeading && (token.type === 'inline' || token.type === 'fence')) {
      const last = sections.at(-1) as Section;
      if (tokens[i - 1]?.type === 'paragraph_open') last.lead ||= plainText(token);
      last[token.type === 'fence' ? 'code' : 'text'] += `${plainText(token)} `;
    }
  }
  return sections;
};

/** A comment on a line of its own stands for a picture: `<!-- picture: name -->`. */
const PICTURE = /^<!-- picture: ([\w-]+) -->$/gm;
const drawn = (name: string): string => {
  if (!(name in PICTURES)) throw new Error(`there is no picture ${name}`);
  return PICTURES[name as PictureName]();
};

export const articleOf = (text: string): Article => {
  const tokens = markdown.parse(text.replaceAll(PICTURE, '\n```picture\n$1\n```\n'), {});
  addAnchors(tokens);
  const pictures = tokens.filter(({ info }) => info === 'picture');
  for (const token of pictures) {
    token.type = 'html_block';
    token.content = drawn(token.content.trim());
  }
  const title = plainText(tokens[1] as Token);
  return {
    title,
    html: markdown.renderer.render(tokens, markdown.options, {}),
    sections: sectionsOf(tokens.filter(({ type }) => type !== 'html_block')),
  };
};

/** What is served as plain Markdown: links lead to the other Markdown pages, tables and text say what the pictures show. */
export const plainMarkdown = (text: string): string =>
  `${text.replaceAll(new RegExp(`${PICTURE.source}\n+`, 'gm'), '').trim()}\n`;
