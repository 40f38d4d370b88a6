import { Button, SimpleGrid, Text, TextInput, type TextInputProps } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { ChevronDown, ChevronUp } from 'lucide-react';
import { Fragment, type ReactNode, useEffect, useRef, useState } from 'react';
import { decimalsOf } from '../../format.ts';
import { shopSettingsQuery } from '../../shop-queries.ts';
import { texts } from '../../texts.ts';
import { Section } from '../../ui/page-frame.tsx';
import styles from './intake.module.css';
import { isTooFine, readNumber } from './read-number.ts';

const words = texts.intake;

export const FieldGrid = ({ children }: { children: ReactNode }) => (
  <SimpleGrid cols={2} spacing="sm" verticalSpacing="sm">
    {children}
  </SimpleGrid>
);

/** Stands beside others, so that it has no rule above it. */
export const FormSection = ({ title, children }: { title: string; children: ReactNode }) => (
  <div>
    <Section title={title}>
      <FieldGrid>{children}</FieldGrid>
    </Section>
  </div>
);

export const FULL_WIDTH = { style: { gridColumn: '1 / -1' } } as const;
/** Names and emails are long for half a phone. */
export const ROW_ON_PHONE = { className: styles['row-on-phone'] ?? '' } as const;

interface MoreProps {
  form: Pick<UseFormReturnType<object>, 'errors' | 'values'>;
  /** How the paths of the fields begin. */
  fields: readonly string[];
  children: ReactNode;
}

const typedIn = (values: object, path = ''): string[] =>
  Object.entries(values).flatMap(([name, value]) =>
    typeof value === 'object' ? typedIn(value, `${path}${name}.`) : value === '' ? [] : `${path}${name}`,
  );

/** What is rarely filled in. Where one of them is wrong they are shown, and the first wrong one gets the focus. */
export const MoreFields = ({ form: { errors, values }, fields: rare, children }: MoreProps) => {
  const isRare = (path: string) => rare.some((start) => path.startsWith(start));
  const hasError = Object.keys(errors).some(isRare);
  const [wanted, setWanted] = useState(() => typedIn(values).some(isRare));
  const fields = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!hasError) return;
    setWanted(true);
    if (!document.activeElement?.matches('[aria-invalid="true"]'))
      fields.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [hasError]);
  const isOpen = wanted || hasError;
  return (
    <div>
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        aria-expanded={isOpen}
        onClick={() => setWanted(!isOpen)}
        rightSection={isOpen ? <ChevronUp size={14} /> : <ChevronDown size={14} />}
      >
        {isOpen ? words.fewer : words.more}
      </Button>
      {isOpen ? (
        <div ref={fields} style={{ marginTop: 'var(--mantine-spacing-sm)' }}>
          <FieldGrid>{children}</FieldGrid>
        </div>
      ) : null}
    </div>
  );
};

/** Prices are in the shop's currency, which says how many decimals they have. */
export const useCurrency = (): { code: string | null; decimals: number } => {
  const { data } = useQuery(shopSettingsQuery);
  const code = data?.currency ?? null;
  if (code === null) return { code, decimals: Number.POSITIVE_INFINITY };
  return { code, decimals: decimalsOf(code) };
};

interface DecimalProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  value?: string;
  onChange?: (value: string) => void;
  currency?: { code: string | null; decimals: number };
}

const NO_CURRENCY = { code: null, decimals: Number.POSITIVE_INFINITY };

/** A quantity, a price or a weight. It is read when it is left; what can be read in two ways is asked. */
export const DecimalInput = (props: DecimalProps) => {
  const { value = '', onChange, error, currency: { code, decimals } = NO_CURRENCY, ...rest } = props;
  const input = useRef<HTMLInputElement>(null);
  const [focused, setFocused] = useState(false);
  const reading = readNumber(value, decimals);
  const pick = (chosen: string) => {
    onChange?.(chosen);
    // The question disappears, and the focus with it.
    input.current?.focus();
  };
  const isShown = !focused || Boolean(error);
  const ownError = () => {
    if (!isShown) return undefined;
    if (Array.isArray(reading)) return <Question readings={reading} onPick={pick} />;
    return code !== null && isTooFine(reading, decimals) ? words.tooManyDecimals(code, decimals) : undefined;
  };
  return (
    <TextInput
      {...rest}
      ref={input}
      inputMode="decimal"
      autoComplete="off"
      value={value}
      error={ownError() ?? error}
      onChange={({ currentTarget }) => onChange?.(currentTarget.value)}
      onFocus={() => setFocused(true)}
      onBlur={() => {
        setFocused(false);
        const read = typeof reading === 'string' ? withDecimals(reading, decimals) : value;
        if (read !== value) onChange?.(read);
      }}
    />
  );
};

/** A price that is known, as it would be typed. */
export const typedPrice = (price: number, decimals: number): string => withDecimals(String(price), decimals);

/** 49.9 is written as 49.90 where the currency has cents. */
const withDecimals = (reading: string, decimals: number): string =>
  Number.isFinite(decimals) && !isTooFine(reading, decimals) ? Number(reading).toFixed(decimals) : reading;

export const PriceInput = (props: Omit<DecimalProps, 'currency'>) => {
  const currency = useCurrency();
  return (
    <DecimalInput
      currency={currency}
      rightSection={
        currency.code ? (
          <Text span size="xs" c="dimmed">
            {currency.code}
          </Text>
        ) : null
      }
      rightSectionWidth={currency.code ? 44 : 0}
      rightSectionPointerEvents="none"
      {...props}
    />
  );
};

const Question = ({ readings, onPick }: { readings: readonly string[]; onPick(reading: string): void }) => (
  <>
    {words.didYouMean}{' '}
    {readings.map((reading, index) => (
      <Fragment key={reading}>
        {index > 0 ? ` ${words.or} ` : ''}
        <Button size="compact-xs" variant="default" onClick={() => onPick(reading)}>
          {/* The fourth decimal only says that it is no thousand. */}
          {reading.replace(/(\.\d{3})0$/, '$1')}
        </Button>
      </Fragment>
    ))}
    ?
  </>
);

export const ReferenceInputs = ({ input }: { input(field: 'externalRef' | 'externalSource'): object }) => (
  <>
    <TextInput label={words.reference} description={words.referenceHint} {...input('externalRef')} />
    <TextInput label={words.source} description={words.sourceHint} {...input('externalSource')} />
  </>
);
