import { queryOptions } from '@tanstack/react-query';
import type { Overview } from '../../contract/admin.ts';
import { api } from './api.ts';

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: () => api.get<Overview>('/overview'),
  staleTime: 30_000,
});
