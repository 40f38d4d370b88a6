/** Says on a terminal how far it is; anywhere else nothing. */
export interface Progress {
  at(table: string, rows: number): void;
  over(): void;
}

const EVERY_MS = 100;
const ERASE_LINE = '\r\u001b[K';

export const progress = (verb: string, isQuiet: boolean | undefined): Progress => {
  if (isQuiet || !process.stderr.isTTY) return { at: () => {}, over: () => {} };
  let next = 0;
  return {
    at(table, rows) {
      // Rows come by the hundred thousand: the clock is not asked for each.
      if (rows % 64 !== 1 && next !== 0) return;
      const now = performance.now();
      if (now < next) return;
      next = now + EVERY_MS;
      process.stderr.write(`${ERASE_LINE}${verb} ${table}: ${rows.toLocaleString('en')} rows`);
    },
    over: () => void process.stderr.write(ERASE_LINE),
  };
};

/** To a hundredth. */
export const secondsSince = (start: number): number => Math.round((performance.now() - start) / 10) / 100;
