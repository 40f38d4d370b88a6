import { expect } from 'vitest';
import { rulesOf } from './api.ts';
import type { Answer } from './harness.ts';

// The rules that every text field of a body keeps to.

type Body = Record<string, unknown>;

export interface Field {
  /** Where it goes in the body. */
  path: string;
  /** Where the answer shows it, when it does. */
  shown?: string;
  max: number;
  required?: boolean;
}

const replaced = (part: unknown, [first = '', ...rest]: string[], value: unknown): unknown => {
  if (Array.isArray(part))
    return part.map((each, index) =>
      String(index) !== first ? each : rest.length > 0 ? replaced(each, rest, value) : value,
    );
  const { [first]: before, ...others } = (part ?? {}) as Body;
  const after = rest.length > 0 ? replaced(before, rest, value) : value;
  return after === undefined ? others : { ...others, [first]: after };
};

/** The body with another value at that path; `undefined` takes the field away. */
export const withValue = (body: object, path: string, value: unknown): Body =>
  replaced(body, path.split('.'), value) as Body;

export const at = (body: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((part, name) => (part as Body)[name], body);

/** Holds one text field against every rule for texts. */
export const checkText = async (field: Field, send: (value: unknown) => Promise<Answer>): Promise<void> => {
  const { path, max, required = false, shown } = field;
  const accepts = async (value: unknown, echoed: unknown) => {
    const answer = await send(value);
    expect({ path, value, status: answer.status < 300 }).toEqual({ path, value, status: true });
    if (shown) expect({ path, echoed: at(answer.body, shown) }).toEqual({ path, echoed });
  };
  const refuses = async (value: unknown, rule: string) =>
    expect({ path, value, rules: rulesOf(await send(value)) }).toEqual({
      path,
      value,
      rules: { [path]: rule },
    });

  await accepts('x', 'x');
  await accepts('  \t x y\n ', 'x y');
  await accepts('x'.repeat(max), 'x'.repeat(max));
  await accepts(` ${'x'.repeat(max)} `, 'x'.repeat(max));
  await accepts('Ærø 日本 🙂 "quoted" \\ \u007f', 'Ærø 日本 🙂 "quoted" \\ \u007f');
  await refuses('x'.repeat(max + 1), 'maxLength');
  await refuses('a\0b', 'nul');
  await refuses('\0', 'nul');
  await refuses('\ud800', 'unicode');
  for (const wrong of [1, true, {}, ['x']]) await refuses(wrong, 'type');
  if (required) {
    await refuses(undefined, 'required');
    await refuses(null, 'type');
    await refuses('', 'notEmpty');
    await refuses(' \n\t', 'notEmpty');
  } else {
    await accepts(undefined, null);
    await accepts(null, null);
    await accepts('', null);
    await accepts('  ', null);
  }
};
