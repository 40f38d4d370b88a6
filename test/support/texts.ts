import { expect } from 'vitest';
import { rulesOf } from './api.ts';
import { at, withValue } from './fields.ts';
import type { ApiResponse } from './harness.ts';

// The rules that every text field of a body keeps to.

export interface TextField {
  path: string;
  /** Where the response shows it, when that is elsewhere; null where it does not. */
  shown?: string | null;
  max: number;
  required?: boolean;
}

type Value = (field: TextField) => unknown;

const ODD = 'Ærø 日本 🙂 "quoted" \\ \u007f';
/** What every text may be, and what becomes of it. */
const TAKEN: [value: Value, echoed: Value][] = [
  [() => 'x', () => 'x'],
  [() => '  \t x y\n ', () => 'x y'],
  [({ max }) => 'x'.repeat(max), ({ max }) => 'x'.repeat(max)],
  [({ max }) => ` ${'x'.repeat(max)} `, ({ max }) => 'x'.repeat(max)],
  // Counted in characters, not in the bytes or halves that make them up.
  [({ max }) => '🙂'.repeat(max), ({ max }) => '🙂'.repeat(max)],
  [() => ODD, () => ODD],
];
/** What no text may be, and the rule that says so. */
const REFUSED: [value: Value, rule: string][] = [
  [({ max }) => 'x'.repeat(max + 1), 'maxLength'],
  [({ max }) => '🙂'.repeat(max + 1), 'maxLength'],
  [() => 'a\0b', 'nul'],
  [() => '\0', 'nul'],
  [() => '\ud800', 'unicode'],
  ...[1, true, {}, ['x'], []].map((wrong): [Value, string] => [() => wrong, 'type']),
];
const REFUSED_IF_REQUIRED: [value: Value, rule: string][] = [
  [() => undefined, 'required'],
  [() => null, 'type'],
  [() => '', 'notEmpty'],
  [() => ' \n\t', 'notEmpty'],
];
const NOTHING_IF_OPTIONAL = [undefined, null, '', '  '];

/** Holds all text fields of a body against every rule for texts, each with one request: a 400 reports all errors at once. */
export const checkTexts = async (
  fields: TextField[],
  body: object,
  send: (body: object) => Promise<ApiResponse>,
): Promise<void> => {
  const told = <Result>(some: TextField[], result: (field: TextField) => Result) =>
    Object.fromEntries(some.map((field) => [field.path, result(field)]));
  const sent = (some: TextField[], value: Value) =>
    send(some.reduce((whole, field) => withValue(whole, field.path, value(field)), body));
  const takes = async (some: TextField[], value: Value, echoed: Value) => {
    const response = await sent(some, value);
    expect(response).toHaveStatus(200, 201);
    const shown = some.filter((field) => field.shown !== null);
    expect(told(shown, (field) => at(response.body, field.shown ?? field.path))).toEqual(told(shown, echoed));
  };
  const refuses = async (some: TextField[], value: Value, rule: string) => {
    const response = await sent(some, value);
    expect(rulesOf(response)).toEqual(told(some, () => rule));
    expect(response.body.errors).toHaveLength(some.length);
  };

  for (const [value, echoed] of TAKEN) await takes(fields, value, echoed);
  for (const [value, rule] of REFUSED) await refuses(fields, value, rule);
  const required = fields.filter((field) => field.required);
  if (required.length > 0)
    for (const [value, rule] of REFUSED_IF_REQUIRED) await refuses(required, value, rule);
  const optional = fields.filter((field) => !field.required);
  if (optional.length > 0)
    for (const none of NOTHING_IF_OPTIONAL)
      await takes(
        optional,
        () => none,
        () => null,
      );
};
