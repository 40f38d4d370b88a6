import { WAITING_FOR } from '../../contract/lifecycle.ts';
import { RETURN_SORTS, SORT_ORDERS } from '../../contract/return-order.ts';

// A list's page, filters and order, kept in the address so that a link shows the same list.

/** The oldest first: it has waited longest. */
export const LIST_ORDER = { sort: 'number', order: 'asc' } as const;

const text = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

const oneOf =
  <Value extends string>(...known: readonly Value[]) =>
  (value: unknown): Value | undefined =>
    known.find((each) => each === value);

const pageNumber = (value: unknown): number | undefined => {
  const page = Number(value);
  return Number.isInteger(page) && page > 1 ? page : undefined;
};

const flag = (value: unknown): boolean | undefined => {
  if (value === true || value === 'true') return true;
  return value === false || value === 'false' ? false : undefined;
};

const READERS = {
  page: pageNumber,
  q: text,
  status: text,
  origin: oneOf('API', 'STAFF'),
  event: text,
  storeId: text,
  companyId: text,
  /** Returns: without it only open ones are shown, unless a status is chosen. */
  open: oneOf('all', 'ended'),
  /** `me`, `none`, or the id of a person. */
  assignee: text,
  overdue: (value: unknown) => (flag(value) ? true : undefined),
  waitingFor: oneOf(...WAITING_FOR, 'any', 'none'),
  dueFrom: text,
  dueTo: text,
  createdFrom: text,
  createdTo: text,
  isDangerous: flag,
  disposition: text,
  /** Parts of a store's or a company's name. */
  store: text,
  company: text,
  sort: oneOf(...RETURN_SORTS),
  order: oneOf(...SORT_ORDERS),
};

export type ListSearch = { [Name in keyof typeof READERS]?: ReturnType<(typeof READERS)[Name]> };

/** Reads them from the address, without empty, unknown and default values. */
export const listSearch = (search: Record<string, unknown>): ListSearch =>
  Object.fromEntries(
    Object.entries(READERS)
      .map(([name, read]) => [name, read(search[name])] as const)
      .filter(
        ([name, value]) => value !== undefined && value !== LIST_ORDER[name as keyof typeof LIST_ORDER],
      ),
  );
