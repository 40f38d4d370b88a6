import {
  DEFAULT_ORDER,
  RETURN_SORTS,
  type ReturnSort,
  SORT_ORDERS,
  type SortOrder,
} from '../../contract/return-order.ts';

/** A list's page, filters and order, kept in the address so that a link shows the same list. */
export interface ListSearch {
  page?: number;
  q?: string;
  status?: string;
  origin?: 'API' | 'STAFF';
  event?: string;
  storeId?: string;
  companyId?: string;
  sort?: ReturnSort;
  order?: SortOrder;
}

const TEXTS = ['q', 'status', 'event', 'storeId', 'companyId'] as const;

/** Reads them from the address, without empty, unknown and default values. */
export const listSearch = (search: Record<string, unknown>): ListSearch => {
  const found: ListSearch = {};
  const page = Number(search['page']);
  if (Number.isInteger(page) && page > 1) found.page = page;
  for (const name of TEXTS) {
    const value = search[name];
    if (typeof value === 'string' || typeof value === 'number') found[name] = String(value);
  }
  if (search['origin'] === 'API' || search['origin'] === 'STAFF') found.origin = search['origin'];
  const sort = RETURN_SORTS.find((known) => known === search['sort']);
  if (sort && sort !== DEFAULT_ORDER.sort) found.sort = sort;
  const order = SORT_ORDERS.find((known) => known === search['order']);
  if (order && order !== DEFAULT_ORDER.order) found.order = order;
  return found;
};
