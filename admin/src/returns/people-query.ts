import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { PeopleList, StoreList } from '../../../contract/admin-returns.ts';
import { api } from '../api.ts';

/** The team, for choosing whom a return is assigned to. */
export const peopleQuery = queryOptions({
  queryKey: ['people'],
  queryFn: () => api.get<z.infer<typeof PeopleList>>('/people'),
  staleTime: 60_000,
});

/** Where repairs were handed in. */
export const storesQuery = queryOptions({
  queryKey: ['stores'],
  queryFn: () => api.get<StoreList>('/stores'),
  staleTime: 60_000,
});
