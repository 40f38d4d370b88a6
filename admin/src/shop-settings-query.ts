import { queryOptions } from '@tanstack/react-query';
import type { ShopSettings } from '../../contract/shop-settings.ts';
import { api } from './api.ts';

/** They change rarely and hold the logo, so they are read once in a while only. */
export const shopSettingsQuery = queryOptions({
  queryKey: ['shop-settings'],
  queryFn: () => api.get<ShopSettings>('/shop-settings'),
  staleTime: 600_000,
  refetchOnWindowFocus: false,
});
