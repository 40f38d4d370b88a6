import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { ApiClientList, Overview } from '../../contract/admin.ts';
import type { TargetDays } from '../../contract/admin-work.ts';
import type { Right } from '../../contract/common.ts';
import type { ShopSettings } from '../../contract/shop-settings.ts';
import { api } from './api.ts';

/** People are warned when this share of the monthly limit is used. */
export const WARN_AT_PERCENT = 80;

/** What an API client may do beyond reading. */
export const RIGHT_LABELS: Record<Right, string> = {
  write: 'Create returns and move repairs',
  'move-trade-returns': 'Move trade returns',
  erase: 'Erase personal data',
};

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  // Its days are those of the reader, as in all lists.
  queryFn: () => api.get<Overview>('/overview', { timeZone }),
  staleTime: 30_000,
});

/** They change rarely and hold the logo, so they are read once in a while only. */
export const shopSettingsQuery = queryOptions({
  queryKey: ['shop-settings'],
  queryFn: () => api.get<ShopSettings>('/shop-settings'),
  staleTime: 600_000,
  refetchOnWindowFocus: false,
});

export const clientsQuery = queryOptions({
  queryKey: ['clients'],
  queryFn: () => api.get<z.infer<typeof ApiClientList>>('/clients'),
});

export const targetsQuery = queryOptions({
  queryKey: ['target-days'],
  queryFn: () => api.get<TargetDays>('/target-days'),
});
