import type { z } from 'zod';

// The contract's schemas, speaking to people: what is wrong with a form, by the path of its input.

const MISSING = 'Please fill this in.';

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const isMissing = (input: unknown): boolean =>
  input === undefined || input === null || (typeof input === 'string' && input.trim() === '');

const saysOf = (issue: z.core.$ZodIssue & { input?: unknown }): string => {
  if (issue.code === 'invalid_value') return 'Please choose one.';
  if (isMissing(issue.input)) return MISSING;
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'number' ? 'Must be a number.' : MISSING;
    case 'too_small':
      if (issue.origin === 'array') return `Add at least ${issue.minimum}.`;
      return `Must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}.`;
    case 'too_big':
      if (issue.origin === 'array') return `At most ${issue.maximum}.`;
      return `Must be at most ${issue.maximum.toLocaleString('en')}.`;
    case 'invalid_format':
    case 'custom':
      return sentence(issue.message);
    default:
      return 'This is not valid.';
  }
};

/** What a schema finds wrong with a body, the first fault of each field, by path: `faultyItem.sku`, `items.0.price`. */
export const formErrors = (schema: z.ZodType, body: unknown): Record<string, string> => {
  const result = schema.safeParse(body, { reportInput: true });
  const errors: Record<string, string> = {};
  for (const issue of result.error?.issues ?? []) {
    const path = issue.path.map(String).join('.');
    errors[path] ??= saysOf(issue);
  }
  return errors;
};

/** The service's own faults, which begin with the path of their field; beside an input that says nothing new. */
export const serverErrors = ({ byField }: { byField: Record<string, string> }): Record<string, string> =>
  Object.fromEntries(
    Object.entries(byField).map(([field, message]) => [
      field,
      sentence(message.startsWith(`${field} `) ? message.slice(field.length + 1) : message),
    ]),
  );
