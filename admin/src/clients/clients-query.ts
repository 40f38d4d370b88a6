import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { ApiClientList } from '../../../contract/admin.ts';
import { api } from '../api.ts';

export const clientsQuery = queryOptions({
  queryKey: ['clients'],
  queryFn: () => api.get<z.infer<typeof ApiClientList>>('/clients'),
});
