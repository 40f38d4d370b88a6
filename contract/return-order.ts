// The sort keys of lists for staff are plain data, so that a URL can be parsed without loading a schema.

export const RETURN_SORTS = ['number', 'updatedAt', 'status', 'statusSince', 'dueAt'] as const;
export type ReturnSort = (typeof RETURN_SORTS)[number];
export const SORT_ORDERS = ['asc', 'desc'] as const;
export type SortOrder = (typeof SORT_ORDERS)[number];

/** The default order is newest first. */
export const DEFAULT_ORDER = { sort: 'number', order: 'desc' } as const satisfies {
  sort: ReturnSort;
  order: SortOrder;
};
