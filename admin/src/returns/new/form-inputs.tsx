import {
  Button,
  Fieldset,
  SimpleGrid,
  Textarea,
  type TextareaProps,
  TextInput,
  type TextInputProps,
} from '@mantine/core';
import { Fragment, type ReactNode, useRef, useState } from 'react';
import { readNumber } from './read-number.ts';

export const FormSection = ({ title, children }: { title: string; children: ReactNode }) => (
  <Fieldset legend={title}>
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="sm">
      {children}
    </SimpleGrid>
  </Fieldset>
);

export const FULL_WIDTH = { style: { gridColumn: '1 / -1' } } as const;

export const GrowingTextarea = (props: TextareaProps) => (
  <Textarea autosize minRows={1} maxRows={10} {...props} />
);

interface DecimalProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  value?: string;
  onChange?: (value: string) => void;
}

/** A quantity, a price or a weight. It is read when it is left; what can be read in two ways is asked. */
export const DecimalInput = ({ value = '', onChange, error, ...props }: DecimalProps) => {
  const input = useRef<HTMLInputElement>(null);
  const [focused, setFocused] = useState(false);
  const reading = readNumber(value);
  const pick = (chosen: string) => {
    onChange?.(chosen);
    // The question disappears, and the focus with it.
    input.current?.focus();
  };
  const isAsked = Array.isArray(reading) && (!focused || Boolean(error));
  return (
    <TextInput
      {...props}
      ref={input}
      inputMode="decimal"
      autoComplete="off"
      value={value}
      error={isAsked ? <Question readings={reading} onPick={pick} /> : error}
      onChange={({ currentTarget }) => onChange?.(currentTarget.value)}
      onFocus={() => setFocused(true)}
      onBlur={() => {
        setFocused(false);
        if (typeof reading === 'string' && reading !== value) onChange?.(reading);
      }}
    />
  );
};

const Question = ({ readings, onPick }: { readings: readonly string[]; onPick(reading: string): void }) => (
  <>
    Did you mean{' '}
    {readings.map((reading, index) => (
      <Fragment key={reading}>
        {index > 0 ? ' or ' : ''}
        <Button size="compact-xs" variant="default" onClick={() => onPick(reading)}>
          {reading}
        </Button>
      </Fragment>
    ))}
    ?
  </>
);

export const ReferenceInputs = ({ input }: { input(field: 'externalRef' | 'externalSource'): object }) => (
  <>
    <TextInput label="Your reference" description="Its number in your own system" {...input('externalRef')} />
    <TextInput
      label="Source system"
      description="Which of your systems that is"
      {...input('externalSource')}
    />
  </>
);
