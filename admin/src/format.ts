// One locale for dates, numbers and money. The words are English, so these are too: in the reader's own English where their browser
// has one, so that nobody in London reads American dates, and no slip says "Repair … 4. November".

export const LOCALE = navigator.languages.find((each) => /^en\b/i.test(each)) ?? 'en-GB';

export const { timeZone: TIME_ZONE } = Intl.DateTimeFormat().resolvedOptions();

export const dateFormat = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(LOCALE, options);

export const relativeFormat = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto' });

const DECIMALS = 4;
const numberFormat = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: DECIMALS });
export const formatNumber = (value: number | bigint): string => numberFormat.format(value);

/** Without a currency, prices are plain numbers with two decimals or more. */
export const moneyFormat = (currency: string | null): Intl.NumberFormat =>
  currency === null
    ? new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 2, maximumFractionDigits: DECIMALS })
    : new Intl.NumberFormat(LOCALE, {
        style: 'currency',
        currency,
        currencyDisplay: 'narrowSymbol',
        maximumFractionDigits: DECIMALS,
      });

export const decimalsOf = (currency: string): number =>
  new Intl.NumberFormat(LOCALE, { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;

export const currencyNames = (): Intl.DisplayNames => new Intl.DisplayNames(LOCALE, { type: 'currency' });

/** A day of the reader's calendar as inputs of the type `date` have it: `2026-11-17`. */
export const dayOf = (date: Date): string => {
  const [year, month, day] = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
};
