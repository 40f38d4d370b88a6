import { z } from 'zod';
import { LENGTH } from './lengths.ts';

// The building blocks of every request body. Only this file defines what a field may contain.

export { LENGTH };

/** Numbers up to here keep four decimals exactly in a double, so what is read back is what was sent. */
const LARGEST_NUMBER = 100_000_000_000;
const MAX_DECIMALS = 4;

const codePoints = (value: string): number => (value.length === 0 ? 0 : [...value].length);

interface TextError {
  rule: string;
  message: string;
}
const textErrors = (value: string, max: number): TextError[] => [
  ...(value.includes('\0') ? [{ rule: 'nul', message: 'must not contain NUL characters' }] : []),
  ...(value.isWellFormed() ? [] : [{ rule: 'unicode', message: 'must be valid Unicode' }]),
  ...(value.length > max && codePoints(value) > max
    ? [{ rule: 'maxLength', message: `must be at most ${max} characters long` }]
    : []),
];
const EMPTY: TextError = { rule: 'notEmpty', message: 'must not be empty' };
/** Characters that are often pasted from a web page and cannot be seen. */
const HIDDEN_CHARACTER = /[\p{Cc}\p{Cf}]/u;
const VISIBLE_CHARACTER = /[^\s\p{Cc}\p{Cf}]/u;
/** A text with NUL is not blank, since it has a separate error. */
const isBlank = (value: string): boolean => !VISIBLE_CHARACTER.test(value) && !value.includes('\0');

const reporting =
  (errorsOf: (value: string) => TextError[]) =>
  (ctx: z.core.ParsePayload<string>): void => {
    for (const { rule, message } of errorsOf(ctx.value))
      ctx.issues.push({ code: 'custom', input: ctx.value, message, params: { rule } });
  };
const checked = (errorsOf: (value: string) => TextError[]) => z.string().trim().check(reporting(errorsOf));

/** The patterns for the OpenAPI document, which every regex engine understands: no NUL, and not only spaces if required. */
const NO_NUL = '^[^\\x00]*$';
const NOT_BLANK = '^\\s*[^\\s\\x00][^\\x00]*$';

interface About {
  description?: string;
  examples?: string[];
  /** Overrides the pattern that follows from the kind of text. */
  pattern?: string;
  format?: string;
}

/** A required text that is not empty after trimming. */
export const text = (max: number, about: About = {}) =>
  checked((value) => (isBlank(value) ? [EMPTY] : textErrors(value, max))).meta({
    minLength: 1,
    maxLength: max,
    pattern: NOT_BLANK,
    ...about,
  });

/** An optional text that is stored unchanged, including spaces. */
export const verbatimText = (max: number, about: About = {}) =>
  z
    .string()
    .check(reporting((value) => textErrors(value, max)))
    .meta({ maxLength: max, pattern: NO_NUL, ...about })
    .nullable()
    .default(null);

/** An optional text, for which `null`, `""` and absent mean the same. */
export const optionalText = (max: number, about: About = {}) =>
  checked((value) => textErrors(value, max))
    .meta({ maxLength: max, pattern: NO_NUL, ...about })
    .transform((value) => (value === '' ? null : value))
    .nullable()
    .default(null);

/**
 * This pattern is looser than most, because a customer's real address must not be rejected at a counter. It allows any script,
 * no spaces or quoting, and requires a dot in the domain, since "ada@gmail" is a typing error. Every bracket is escaped: the
 * pattern is in the OpenAPI document, and Java reads an unescaped bracket inside a class as a nested class.
 */
const NOT_IN_EMAIL = String.raw`\s\x00@"(),:;<>\[\\\]`;
const EMAIL = new RegExp(
  String.raw`^[^${NOT_IN_EMAIL}]{1,64}@(?:[^${NOT_IN_EMAIL}.]+\.)+[^${NOT_IN_EMAIL}.]{2,}$`,
);

const HIDDEN_IN_EMAIL: TextError = { rule: 'format', message: 'must not contain invisible characters' };

export const email = (about: About = {}) =>
  checked((value) => {
    const errors = textErrors(value, LENGTH.name);
    return errors.length === 0 && HIDDEN_CHARACTER.test(value) ? [HIDDEN_IN_EMAIL] : errors;
  })
    .regex(EMAIL, { error: 'must be an email address' })
    .meta({ format: 'idn-email', maxLength: LENGTH.name, ...about });

/** Rounds to the last decimal, since binary sums (0.1 + 0.2) may differ from the decimal number in the last bits. */
const inLastDecimal = (value: number, decimals: number): number => Number(value.toFixed(decimals));
const BITS_OF_NOISE = 8 * Number.EPSILON;
/** In large numbers a few bits can reach a decimal, so the difference is also bounded well below the last stored one. */
const isDecimal = (value: number, decimals: number): boolean =>
  Math.abs(value - inLastDecimal(value, decimals)) <=
  Math.min(BITS_OF_NOISE * Math.abs(value), 10 ** -(decimals + 2));

const decimal = (bounded: z.ZodNumber, decimals = MAX_DECIMALS, most = LARGEST_NUMBER) =>
  bounded
    .max(most)
    .check((ctx) => {
      if (Number.isFinite(ctx.value) && !isDecimal(ctx.value, decimals))
        ctx.issues.push({
          code: 'custom',
          input: ctx.value,
          message: `must have at most ${decimals} decimals`,
          params: { rule: 'decimals' },
        });
    })
    .overwrite((value) => inLastDecimal(value, decimals));

export const quantity = () =>
  decimal(z.number().gt(0)).meta({
    description: `More than 0, at most ${MAX_DECIMALS} decimals.`,
    examples: [1],
  });
export const price = () =>
  decimal(z.number().min(0)).meta({
    description: `Per unit, in the shop's own currency; at most ${MAX_DECIMALS} decimals, stored exactly.`,
    examples: [149.95],
  });
/** A sum of price × quantity has twice the decimals. JSON keeps fifteen digits exactly. */
const AMOUNT_DECIMALS = 2 * MAX_DECIMALS;
/** The maximum amount of a line and of a whole return. */
const LARGEST_AMOUNT = 10 ** 15;

interface PriceAndQuantity {
  price: number;
  quantity: number;
}
export const isAmount = ({ price, quantity }: PriceAndQuantity): boolean =>
  price * quantity <= LARGEST_AMOUNT;
/** Checks the sum of a return. An item that costs too much has a separate error. */
export const isSum = (items: PriceAndQuantity[]): boolean =>
  !items.every(isAmount) ||
  items.reduce((sum, { price, quantity }) => sum + price * quantity, 0) <= LARGEST_AMOUNT;
export const AMOUNT_EXCEEDED = {
  error: `times quantity must be at most ${LARGEST_AMOUNT}`,
  params: { rule: 'max' },
} as const;

export const amount = (description: string, examples: number[]) =>
  decimal(z.number().min(0), AMOUNT_DECIMALS, LARGEST_AMOUNT).meta({
    description: `${description} At most ${AMOUNT_DECIMALS} decimals.`,
    examples,
  });
/** A number of units. */
export const unitsField = (description: string, examples: number[]) =>
  decimal(z.number().min(0)).meta({
    description: `${description} At most ${MAX_DECIMALS} decimals.`,
    examples,
  });
export const optionalWeight = () =>
  decimal(z.number().min(0))
    .nullable()
    .default(null)
    .meta({ description: `In the shop's own unit; at most ${MAX_DECIMALS} decimals.`, examples: [1.25] });
