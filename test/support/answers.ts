import type { AdminCaller } from './admin.ts';
import type { Answer } from './http.ts';

// What tests pick out of answers, and many requests at once.

type Item = Answer['body'];

/** One field of every item of a list. */
export const pluck = (items: Item[], field: string): Item[] => items.map((item) => item[field]);

/** The newest entries of the audit log first; only those of an action where one is named. */
export const auditLog = async (person: AdminCaller, action?: string): Promise<Item[]> => {
  const { items } = (await person.get('/audit-log?limit=100')).body;
  return items.filter((entry: Item) => !action || entry.action === action);
};

/** The same request so many times, side by side. */
export const atOnce = <Result>(count: number, ask: (i: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => ask(i)));
