import { queryOptions } from '@tanstack/react-query';
import type { Overview } from '../../contract/admin.ts';
import { api } from './api.ts';

/** People are warned when this share of the monthly limit is used. */
export const WARN_AT_PERCENT = 80;

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: () => api.get<Overview>('/overview'),
  staleTime: 30_000,
});
