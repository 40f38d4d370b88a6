/** What a check came to, in a line: that all is well, what to look at, or what is wrong and what to do. */
export interface Finding {
  state: 'ok' | 'warn' | 'wrong';
  message: string;
}

export const ok = (message: string): Finding => ({ state: 'ok', message });
export const warn = (message: string): Finding => ({ state: 'warn', message });
export const wrong = (message: string): Finding => ({ state: 'wrong', message });

class TooLate extends Error {}

/** PostgreSQL broke a statement off, or this process gave up. */
export const isTooLate = (error: unknown): boolean =>
  error instanceof TooLate || (error as { code?: unknown }).code === '57014';

/** How long one statement and one check may take, also in a database with millions of rows. */
export const STATEMENT_MS = 5_000;
const CHECK_MS = 15_000;

/** Throws once a check has taken too long. */
export const deadline = (): (() => void) => {
  const end = performance.now() + CHECK_MS;
  return () => {
    if (performance.now() > end) throw new TooLate('this check takes too long');
  };
};
