import {
  Fieldset,
  NumberInput,
  type NumberInputProps,
  SimpleGrid,
  Textarea,
  type TextareaProps,
} from '@mantine/core';
import type { ReactNode } from 'react';

/** Inputs that belong together, two beside each other where there is room. */
export const FormSection = ({ title, children }: { title: string; children: ReactNode }) => (
  <Fieldset legend={title}>
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="sm">
      {children}
    </SimpleGrid>
  </Fieldset>
);

/** Takes the whole width of a section. */
export const FULL_WIDTH = { style: { gridColumn: '1 / -1' } } as const;

/** A text of several lines, which grows as it is typed. */
export const GrowingTextarea = (props: TextareaProps) => (
  <Textarea autosize minRows={1} maxRows={10} {...props} />
);

/** A quantity, a price or a weight: what the service keeps of it. */
export const Figure = (props: NumberInputProps) => (
  <NumberInput min={0} decimalScale={4} hideControls {...props} />
);

/** What a number input holds, as the number that is sent; nothing where nothing was typed. */
export const numberOf = (value: number | string): number | undefined =>
  value === '' ? undefined : Number(value);
/** The same for a number that may be left out. */
export const optionalNumberOf = (value: number | string): number | null => numberOf(value) ?? null;
