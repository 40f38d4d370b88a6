import type { ShopSettings } from '../../../contract/shop-settings.ts';

/** The settings as inputs hold them: texts, where nothing is an empty one. */
export interface ShopValues {
  name: string;
  address: string;
  phone: string;
  email: string;
  currency: string;
  timeZone: string;
  slipText: string;
  logo: string;
}

export const valuesFrom = ({ address, shopName: _, ...settings }: ShopSettings): ShopValues => ({
  name: settings.name ?? '',
  address: address.join('\n'),
  phone: settings.phone ?? '',
  email: settings.email ?? '',
  currency: settings.currency ?? '',
  timeZone: settings.timeZone ?? '',
  slipText: settings.slipText ?? '',
  logo: settings.logo ?? '',
});

const orNull = (text: string): string | null => (text.trim() === '' ? null : text);

export const settingsFrom = ({ address, ...values }: ShopValues): Omit<ShopSettings, 'shopName'> => ({
  name: orNull(values.name),
  address: address
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean),
  phone: orNull(values.phone),
  email: orNull(values.email),
  currency: orNull(values.currency),
  timeZone: orNull(values.timeZone),
  slipText: orNull(values.slipText),
  logo: orNull(values.logo),
});
