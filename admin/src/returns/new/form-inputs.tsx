import {
  Fieldset,
  NumberInput,
  type NumberInputProps,
  SimpleGrid,
  Textarea,
  type TextareaProps,
} from '@mantine/core';
import type { ReactNode } from 'react';

/** A group of inputs, in two columns where there is room. */
export const FormSection = ({ title, children }: { title: string; children: ReactNode }) => (
  <Fieldset legend={title}>
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="sm">
      {children}
    </SimpleGrid>
  </Fieldset>
);

/** For an input that takes the whole width of its section. */
export const FULL_WIDTH = { style: { gridColumn: '1 / -1' } } as const;

export const GrowingTextarea = (props: TextareaProps) => (
  <Textarea autosize minRows={1} maxRows={10} {...props} />
);

/** A quantity, a price or a weight, with as many decimals as the service keeps. */
export const DecimalInput = (props: NumberInputProps) => (
  <NumberInput min={0} decimalScale={4} hideControls {...props} />
);

/** The value of a number input; undefined where it is empty. */
export const numberOf = (value: number | string): number | undefined =>
  value === '' ? undefined : Number(value);
/** For an optional number: null where the input is empty. */
export const optionalNumberOf = (value: number | string): number | null => numberOf(value) ?? null;
