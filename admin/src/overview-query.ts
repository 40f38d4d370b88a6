import { queryOptions } from '@tanstack/react-query';
import type { Overview } from '../../contract/admin.ts';
import { api } from './api.ts';

/** People are warned when this share of the monthly limit is used. */
export const WARN_AT_PERCENT = 80;

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  // Its days are those of the reader, as in all lists.
  queryFn: () => api.get<Overview>('/overview', { timeZone }),
  staleTime: 30_000,
});
