// The build creates the index with these options, and the page reads it with the same.

export interface SearchEntry {
  /** The path below /docs/. */
  id: string;
  page: string;
  heading: string;
  text: string;
  code: string;
  excerpt: string;
}

export const SEARCH_OPTIONS = {
  fields: ['heading', 'page', 'text', 'code'],
  storeFields: ['page', 'heading', 'excerpt'],
  searchOptions: {
    boost: { heading: 4, page: 2, code: 0.3 },
    prefix: true,
    fuzzy: 0.15,
    combineWith: 'AND' as const,
  },
};
