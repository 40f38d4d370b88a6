import { onTestFinished } from 'vitest';
import type { AdminCaller } from './admin.ts';
import type { ApiResponse } from './http.ts';

// What tests pick out of responses, and many requests at once.

type Item = ApiResponse['body'];

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

/** Work that goes on until what is returned is called, which fails where the work failed. */
export const untilEnded = (work: (isOver: () => boolean) => Promise<unknown>): (() => Promise<void>) => {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  const working = work(() => isOver);
  // A test that fails ends the server under its callers.
  working.catch(() => {});
  onTestFinished(end);
  return async () => {
    end();
    await working;
  };
};

/** The same again and again, so many side by side. */
export const repeatedly = (count: number, work: (i: number) => Promise<unknown>): (() => Promise<void>) =>
  untilEnded((isOver) =>
    atOnce(count, async (i) => {
      while (!isOver()) await work(i);
    }),
  );
