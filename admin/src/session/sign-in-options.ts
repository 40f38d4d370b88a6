import { queryOptions } from '@tanstack/react-query';
import type { SignInOptions } from '../../../contract/admin-access.ts';
import { api } from '../api.ts';

/** Whether a forgotten password can be helped with a mail. */
export const signInOptionsQuery = queryOptions({
  queryKey: ['sign-in-options'],
  queryFn: () => api.get<SignInOptions>('/sign-in-options'),
  staleTime: Number.POSITIVE_INFINITY,
});
