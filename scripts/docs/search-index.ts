import MiniSearch from 'minisearch';
import { SEARCH_OPTIONS, type SearchEntry } from '../../docs/site/search-options.ts';
import type { Section } from './markdown.ts';
import { addressOf, type DocsPage } from './pages.ts';
import type { Operation } from './reference-text.ts';

const EXCERPT_LENGTH = 160;
const excerptOf = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= EXCERPT_LENGTH ? line : `${line.slice(0, EXCERPT_LENGTH).replace(/\s\S*$/, '')} …`;
};

/** Below a heading of the second level, one of the third says more with it: "A program that follows: Node". */
const fullHeading = (sections: Section[], at: number): string => {
  const { heading, level, id } = sections[at] as Section;
  const parent = sections.slice(0, at).findLast((each) => each.level === 2);
  return level === 3 && parent && id !== heading ? `${parent.heading}: ${heading}` : heading;
};

const sectionEntries = (page: DocsPage, sections: Section[]): SearchEntry[] =>
  sections.map(({ id, text, code, lead }, at) => ({
    id: `${addressOf(page.name)}${id ? `#${id}` : ''}`,
    page: page.label,
    heading: fullHeading(sections, at) || page.label,
    text,
    code,
    excerpt: excerptOf(lead || page.summary),
  }));

const operationEntry = ({ tag, method, path, summary, description }: Operation): SearchEntry => ({
  // As the reference itself writes its addresses.
  id: `reference#tag/${tag.toLowerCase().replaceAll(' ', '-')}/${method}${path}`,
  page: 'API reference',
  heading: `${method} ${path}`,
  text: `${summary} ${description}`,
  code: '',
  excerpt: excerptOf(`${summary}. ${description}`),
});

/** One entry for each section of a page and each call of the API. */
export const searchIndex = (
  pages: { page: DocsPage; sections: Section[] }[],
  operations: Operation[],
): string => {
  const index = new MiniSearch<SearchEntry>(SEARCH_OPTIONS);
  index.addAll(pages.flatMap(({ page, sections }) => sectionEntries(page, sections)));
  index.addAll(operations.map(operationEntry));
  return JSON.stringify(index);
};
