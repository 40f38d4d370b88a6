import type { z } from 'zod';
import { texts } from '../../texts.ts';

const words = texts.common;

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const isMissing = (input: unknown): boolean =>
  input === undefined || input === null || (typeof input === 'string' && input.trim() === '');

const messageOf = (issue: z.core.$ZodIssue & { input?: unknown }): string => {
  if (issue.code === 'invalid_value') return words.chooseOne;
  if (isMissing(issue.input)) return words.required;
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'number' ? words.mustBeNumber : words.required;
    case 'too_small':
      if (issue.origin === 'array') return words.addAtLeast(issue.minimum);
      return issue.inclusive ? words.atLeast(issue.minimum) : words.moreThan(issue.minimum);
    case 'too_big':
      if (issue.origin === 'array') return words.noMoreThan(issue.maximum);
      return words.atMost(issue.maximum);
    case 'invalid_format':
    case 'custom':
      return sentence(issue.message);
    default:
      return words.notValid;
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
