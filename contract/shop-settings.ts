import { z } from 'zod';
import { email, LENGTH, optionalText, text } from './fields.ts';
import { PICTURE_TYPES, type PictureType, pictureSize } from './picture.ts';

// The schemas of a shop's settings for its slips and pages.

const MOST_LINES = 8;
/** The size of the picture itself; as a data URL it is a third larger. */
export const LOGO_BYTES = 200_000;
/** The length of a data URL: four base64 characters stand for three bytes. */
const LOGO_CHARACTERS = Math.ceil(LOGO_BYTES / 3) * 4 + 'data:image/jpeg;base64,'.length;
const decodedLength = (base64: string): number =>
  (base64.length / 4) * 3 - (base64.match(/=*$/)?.[0].length ?? 0);

const isCurrency = (code: string): boolean => Intl.supportedValuesOf('currency').includes(code);

const isTimeZone = (name: string): boolean => {
  // Offsets are not accepted: they have no daylight saving time.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
};

export const LOGO_TYPES = PICTURE_TYPES;
/** The maximum of each side in pixels, since a small file may contain a picture that fills the memory of a browser. */
const LOGO_SIDE = 5_000;

const DATA_URL = /^data:(image\/(?:png|jpeg|webp));base64,([A-Za-z0-9+/]+={0,2})$/;

const logoError = (value: string): string | null => {
  const [, type, base64 = ''] = DATA_URL.exec(value.slice(0, LOGO_CHARACTERS + 1)) ?? [];
  if (value.length > LOGO_CHARACTERS || decodedLength(base64) > LOGO_BYTES)
    return `must be at most ${LOGO_BYTES / 1000} kB`;
  if (type === undefined || base64.length % 4 !== 0)
    return 'must be a PNG, JPEG or WebP picture as a data URL';
  const bytes = Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0));
  const size = pictureSize(bytes, type as PictureType);
  if (size === null) return `must be a picture of the type ${type}`;
  return isLogoSize(size) ? null : `must be 1 to ${LOGO_SIDE} pixels wide and high`;
};

/** Returns true if a picture has a size that can be printed. */
export const isLogoSize = (size: { width: number; height: number }): boolean =>
  [size.width, size.height].every((side) => side >= 1 && side <= LOGO_SIDE);

const ONE_PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==';

const logo = z
  .string()
  .check((ctx) => {
    const message = logoError(ctx.value);
    if (message) ctx.issues.push({ code: 'custom', input: '', message, params: { rule: 'picture' } });
  })
  .meta({
    maxLength: LOGO_CHARACTERS,
    description: `A PNG, JPEG or WebP picture of at most ${LOGO_BYTES / 1000} kB and ${LOGO_SIDE} pixels on each side, as a data URL.`,
    examples: [`data:image/png;base64,${ONE_PIXEL}`],
  });

const shopSettings = {
  name: optionalText(LENGTH.name, {
    description: "The name on slips; the shop's own name if it is empty.",
  }),
  address: z
    .array(text(LENGTH.name))
    .max(MOST_LINES)
    .default([])
    .meta({
      description: 'Address lines of the letterhead.',
      examples: [['12 Harbour Road', '3207 Port Melbourne']],
    }),
  phone: optionalText(LENGTH.name),
  email: email().nullable().default(null),
  currency: z
    .string()
    .refine(isCurrency, { error: 'must be an ISO 4217 currency code such as EUR' })
    .nullable()
    .default(null)
    .meta({ description: 'ISO 4217 code of the currency in which prices are shown.', examples: ['EUR'] }),
  timeZone: z
    .string()
    .refine(isTimeZone, { error: 'must be an IANA time zone such as Europe/Berlin' })
    .nullable()
    .default(null)
    .meta({ description: 'IANA name of the time zone for dates on slips.', examples: ['Europe/Berlin'] }),
  slipText: optionalText(LENGTH.freeText, {
    description: 'Text at the foot of every slip, for example terms or opening hours.',
  }),
  logo: logo.nullable().default(null),
};

export const ReplaceShopSettings = z
  .strictObject(shopSettings)
  .meta({ id: 'ReplaceShopSettings', description: 'Replaces all settings: absent ones become empty.' });
export type ReplaceShopSettings = z.infer<typeof ReplaceShopSettings>;

export const ShopSettings = z
  .object({
    shopName: z.string().meta({ description: "The shop's own name, set by the operator." }),
    name: z.string().nullable(),
    address: z.array(z.string()),
    phone: z.string().nullable(),
    email: z.string().nullable(),
    currency: z.string().nullable(),
    timeZone: z.string().nullable(),
    slipText: z.string().nullable(),
    logo: z.string().nullable(),
  })
  .meta({ id: 'ShopSettings' });
export type ShopSettings = z.infer<typeof ShopSettings>;
