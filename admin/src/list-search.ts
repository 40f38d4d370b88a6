import { RETURN_SORTS, type ReturnSort, SORT_ORDERS, type SortOrder } from '../../contract/return-order.ts';

/** A list's page, filters and order, kept in the address so that a link shows the same list. */
export interface ListSearch {
  page?: number;
  q?: string;
  status?: string;
  origin?: 'API' | 'STAFF';
  event?: string;
  storeId?: string;
  companyId?: string;
  /** Returns: without it only open ones are shown, unless a status is chosen. */
  open?: 'all' | 'ended';
  /** `me`, `none`, or the id of a person. */
  assignee?: string;
  overdue?: true;
  createdFrom?: string;
  createdTo?: string;
  isDangerous?: boolean;
  disposition?: string;
  /** Parts of a store's or a company's name. */
  store?: string;
  company?: string;
  sort?: ReturnSort;
  order?: SortOrder;
}

/** The oldest first: it has waited longest. */
export const LIST_ORDER = { sort: 'number', order: 'asc' } as const;

const TEXTS = [
  'q',
  'status',
  'event',
  'storeId',
  'companyId',
  'assignee',
  'createdFrom',
  'createdTo',
  'disposition',
  'store',
  'company',
] as const;

const oneOf = <Value extends string>(value: unknown, known: readonly Value[]): Value | undefined =>
  known.find((each) => each === value);

const flagOf = (value: unknown): boolean | undefined => {
  if (value === true || value === 'true') return true;
  return value === false || value === 'false' ? false : undefined;
};

/** Reads them from the address, without empty, unknown and default values. */
export const listSearch = (search: Record<string, unknown>): ListSearch => {
  const page = Number(search['page']);
  const sort = oneOf(search['sort'], RETURN_SORTS);
  const order = oneOf(search['order'], SORT_ORDERS);
  const found: Record<string, unknown> = {
    page: Number.isInteger(page) && page > 1 ? page : undefined,
    origin: oneOf(search['origin'], ['API', 'STAFF']),
    open: oneOf(search['open'], ['all', 'ended']),
    overdue: flagOf(search['overdue']) || undefined,
    isDangerous: flagOf(search['isDangerous']),
    sort: sort === LIST_ORDER.sort ? undefined : sort,
    order: order === LIST_ORDER.order ? undefined : order,
  };
  for (const name of TEXTS) {
    const value = search[name];
    if (typeof value === 'string' || typeof value === 'number') found[name] = String(value);
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
};
