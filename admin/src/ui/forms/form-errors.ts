import type { z } from 'zod';

const MISSING = 'Please fill this in.';

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const isMissing = (input: unknown): boolean =>
  input === undefined || input === null || (typeof input === 'string' && input.trim() === '');

const messageOf = (issue: z.core.$ZodIssue & { input?: unknown }): string => {
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

/** The first error of each field, by path: `faultyItem.sku`, `items.0.price`. */
export const formErrors = (schema: z.ZodType, body: unknown): Record<string, string> => {
  const result = schema.safeParse(body, { reportInput: true });
  const errors: Record<string, string> = {};
  for (const issue of result.error?.issues ?? []) {
    const path = issue.path.map(String).join('.');
    errors[path] ??= messageOf(issue);
  }
  return errors;
};

/** Without its subject, "is wrong" is no sentence. */
const withSubject = (message: string): string => (message.startsWith('is ') ? `this ${message}` : message);

/** The service's errors begin with the path of their field; beside the input that path would be noise. */
export const serverErrors = ({ byField }: { byField: Record<string, string> }): Record<string, string> =>
  Object.fromEntries(
    Object.entries(byField).map(([field, message]) => [
      field,
      sentence(message.startsWith(`${field} `) ? withSubject(message.slice(field.length + 1)) : message),
    ]),
  );
