import { NativeSelect, type NativeSelectProps, SimpleGrid } from '@mantine/core';
import { useEffect, useEffectEvent } from 'react';
import { currencyNames, TIME_ZONE } from '../format.ts';
import { texts } from '../texts.ts';
import { TextButton } from '../ui/links.tsx';

// Currency and time zone of the shop. Where nothing is chosen, this browser's own are suggested.

const t = texts.session;

/** What is set stays in the list, also where this browser does not know it. */
const choicesOf = (known: readonly string[], present: string, labelOf: (value: string) => string) => [
  { value: '', label: t.notSet },
  ...known.map((value) => ({ value, label: labelOf(value) })),
  ...(present === '' || known.includes(present) ? [] : [{ value: present, label: present }]),
];

const TIME_ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')];

/** The regions of the currencies that are spread widest; of others nothing is suggested. */
const REGIONS: Record<string, string> = {
  EUR: 'AT BE CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK',
  USD: 'US',
  GBP: 'GB',
  AUD: 'AU',
  NZD: 'NZ',
  CAD: 'CA',
  CHF: 'CH LI',
  SEK: 'SE',
  NOK: 'NO',
  DKK: 'DK',
  PLN: 'PL',
  CZK: 'CZ',
  HUF: 'HU',
  INR: 'IN',
  JPY: 'JP',
  ZAR: 'ZA',
  BRL: 'BR',
  MXN: 'MX',
};

/** By the language of the browser. American English is the default of many browsers elsewhere, so the time zone must fit it. */
const ownCurrency = (): string => {
  const { region = '' } = new Intl.Locale(navigator.language);
  if (region === '' || (region === 'US' && !/^(America|Pacific)\//.test(TIME_ZONE))) return '';
  return Object.keys(REGIONS).find((currency) => REGIONS[currency]?.split(' ').includes(region)) ?? '';
};

const names = currencyNames();

const OWN_REGION = { currency: ownCurrency(), timeZone: TIME_ZONE };

interface Props extends Omit<NativeSelectProps, 'onChange'> {
  value?: string;
  onChange?: (value: string) => void;
}

interface BothProps {
  inputProps: (field: 'currency' | 'timeZone') => object;
  /** With this browser's own, once. */
  onSuggest: (own: { currency: string; timeZone: string }) => void;
}

export const RegionInputs = ({ inputProps, onSuggest }: BothProps) => {
  const suggest = useEffectEvent(() => onSuggest(OWN_REGION));
  useEffect(() => suggest(), []);
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <CurrencyInput {...inputProps('currency')} />
      <TimeZoneInput {...inputProps('timeZone')} />
    </SimpleGrid>
  );
};

export const CurrencyInput = (props: Props) => (
  <Suggesting
    label={t.currency}
    own={OWN_REGION.currency}
    data={choicesOf(
      Intl.supportedValuesOf('currency'),
      props.value ?? '',
      (code) => `${code} – ${names.of(code)}`,
    )}
    {...props}
  />
);

export const TimeZoneInput = (props: Props) => (
  <Suggesting
    label={t.timeZone}
    own={OWN_REGION.timeZone}
    data={choicesOf(TIME_ZONES, props.value ?? '', (name) => name.replaceAll('_', ' '))}
    {...props}
  />
);

const Suggesting = ({ own, onChange, ...props }: Props & { own: string }) => (
  <div>
    <NativeSelect {...props} onChange={({ currentTarget }) => onChange?.(currentTarget.value)} />
    {props.value === '' && own !== '' ? (
      <TextButton mt={4} onClick={() => onChange?.(own)}>
        {t.suggested(own.replaceAll('_', ' '))}
      </TextButton>
    ) : null}
  </div>
);
