import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { ApiClientList, Overview } from '../../contract/admin.ts';
import type { TargetDays } from '../../contract/admin-work.ts';
import type { ShopSettings } from '../../contract/shop-settings.ts';
import { api } from './api.ts';

/** People are warned when this share of the monthly limit is used. */
export const WARN_AT_PERCENT = 80;

import { TIME_ZONE } from './format.ts';
/** Others work on the same returns, so the screen refreshes this often. */
export const REFETCH_MS = 30_000;

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  // Its days are those of the reader, as in all lists.
  queryFn: ({ signal }) => api.get<Overview>('/overview', { timeZone: TIME_ZONE }, signal),
  staleTime: REFETCH_MS,
  // Every page shows something of it, and it counts all returns of the shop.
  refetchInterval: 2 * REFETCH_MS,
});

/** What one path of the admin API answers, with the path as its key. */
export const getQuery = <Result>(
  name: string,
  options: { staleTime?: number; refetchOnWindowFocus?: boolean } = {},
) => queryOptions({ queryKey: [name], queryFn: () => api.get<Result>(`/${name}`), ...options });

/** They change rarely and hold the logo, so they are read once in a while only. */
export const shopSettingsQuery = getQuery<ShopSettings>('shop-settings', {
  staleTime: 600_000,
  refetchOnWindowFocus: false,
});

export const clientsQuery = getQuery<z.infer<typeof ApiClientList>>('clients');
export const targetsQuery = getQuery<TargetDays>('target-days');
