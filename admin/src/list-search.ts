/** What a list shows stands in the address, so that a link shows the same. Empty and odd values are left out. */
export interface ListSearch {
  page?: number;
  q?: string;
  status?: string;
  origin?: 'API' | 'STAFF';
  event?: string;
  storeId?: string;
  companyId?: string;
}

const TEXTS = ['q', 'status', 'event', 'storeId', 'companyId'] as const;

export const listSearch = (search: Record<string, unknown>): ListSearch => {
  const found: ListSearch = {};
  const page = Number(search['page']);
  if (Number.isInteger(page) && page > 1) found.page = page;
  for (const name of TEXTS) {
    const value = search[name];
    if (typeof value === 'string' || typeof value === 'number') found[name] = String(value);
  }
  if (search['origin'] === 'API' || search['origin'] === 'STAFF') found.origin = search['origin'];
  return found;
};
