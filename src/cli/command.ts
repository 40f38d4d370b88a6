import type { Command } from 'commander';

/** A command that was understood but cannot be done: one line on standard error, exit status 1. */
export class CliFailure extends Error {}

export const command = (parent: Command, spelling: string, description: string): Command =>
  parent.command(spelling).description(description).option('--json', 'print one line of JSON');

type Fields = Record<string, unknown>;
export type CommandResult = Fields | Fields[];

/** With `--json` one line of JSON and nothing else; otherwise something to read. */
export const print = (result: CommandResult, json: boolean | undefined): void => {
  const text = json ? JSON.stringify(result) : Array.isArray(result) ? table(result) : fields(result);
  process.stdout.write(`${text}\n`);
};

const shown = (value: unknown): string =>
  value === null ? '-' : Array.isArray(value) ? value.join(', ') || '-' : String(value);

const fields = (result: Fields): string => {
  const width = Math.max(...Object.keys(result).map((name) => name.length));
  return Object.entries(result)
    .map(([name, value]) => `${name.padEnd(width)}  ${shown(value)}`)
    .join('\n');
};

const table = (rows: Fields[]): string => {
  const first = rows[0];
  if (!first) return '(none)';
  const names = Object.keys(first);
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => shown(row[name]).length)));
  const line = (cells: string[]) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(names), ...rows.map((row) => line(names.map((name) => shown(row[name]))))].join('\n');
};

/** Text from outside, for a terminal: without the characters that would move its cursor or change its colours. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim();

/** For what is no result: on standard error. */
export const notice = (message: string): void => void process.stderr.write(`handback: ${message}\n`);

const PROGRESS_EVERY_MS = 100;
const ERASE_LINE = '\r\u001b[K';

/** Shows on a terminal how far a command is; elsewhere nothing. */
export class Progress {
  readonly #isShown: boolean;
  #next = 0;

  constructor(isQuiet = false) {
    this.#isShown = !isQuiet && process.stderr.isTTY;
  }

  show(what: string, rows: number): void {
    // Rows come by the hundred thousand: the clock is not read for each.
    if (!this.#isShown || (rows % 64 !== 1 && this.#next !== 0)) return;
    const now = performance.now();
    if (now < this.#next) return;
    this.#next = now + PROGRESS_EVERY_MS;
    process.stderr.write(`${ERASE_LINE}${what}: ${rows.toLocaleString('en')} rows`);
  }

  end(): void {
    if (this.#isShown) process.stderr.write(ERASE_LINE);
  }
}
