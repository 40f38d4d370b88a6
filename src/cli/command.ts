import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { RIGHTS, type Right } from '../../contract/common.ts';
import { email as emailField, LENGTH, text } from '../../contract/fields.ts';
import { NewPassword, PASSWORD_LENGTH, PersonName } from '../../contract/person-fields.ts';
import { EraseCustomer, phoneNumber } from '../../contract/personal-data.ts';
import type { Config } from '../service/config.ts';
import type { Context } from '../service/context.ts';
import { formErrorOf, urlIn } from '../webhooks/policy.ts';

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

/** Work on the service's own database, without its log. */
export const withContext = async <Result>(
  config: Config,
  work: (ctx: Context) => Promise<Result>,
): Promise<Result> => {
  const [{ openContext }, { pino }] = await Promise.all([import('../service/context.ts'), import('pino')]);
  const ctx = await openContext(config, {
    log: pino({ level: 'silent' }),
    onWait: () => notice('waiting for the database (DATABASE_URL)'),
  });
  try {
    return await work(ctx);
  } finally {
    await ctx.close();
  }
};

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
    const now = performance.now();
    if (!this.#isShown || now < this.#next) return;
    this.#next = now + PROGRESS_EVERY_MS;
    process.stderr.write(`${ERASE_LINE}${what}: ${rows.toLocaleString('en')} rows`);
  }

  end(): void {
    if (this.#isShown) process.stderr.write(ERASE_LINE);
  }
}

// --- the values that commands take ---

/** Checks a value by the schema that the API uses. */
const by =
  <Schema extends z.ZodType>(schema: Schema, otherwise: string) =>
  (value: unknown): z.infer<Schema> => {
    const result = schema.safeParse(value);
    if (!result.success) throw new InvalidArgumentError(otherwise);
    return result.data;
  };

export const name = by(text(LENGTH.name), `It must be 1 to ${LENGTH.name} characters long.`);
export const personName = by(
  PersonName,
  `It must be a name of at most ${LENGTH.name} characters, not an e-mail address.`,
);
export const email = by(emailField(), 'It must be an e-mail address.');
export const phone = by(phoneNumber, 'It must be a phone number of at least 5 digits.');
export const reason = by(EraseCustomer.shape.reason, `It must be 1 to ${LENGTH.freeText} characters long.`);
export const skuPattern = by(text(LENGTH.reference), `It must be 1 to ${LENGTH.reference} characters long.`);

/** `read` for none: an empty text is easily an accident. */
export const clientRights = (value: string): Right[] => {
  const given = value === 'read' ? [] : value.split(',').map((right) => right.trim());
  return by(z.array(z.enum(RIGHTS)), `It must be read, or some of ${RIGHTS.join()}.`)(given);
};

/** Midnight after a day, UTC. */
export const endOfDay = (value: string): number => {
  const day = by(z.iso.date(), 'It must be a day, 2027-01-31 for example.')(value);
  return Date.parse(day) + 24 * 60 * 60 * 1000;
};
export const endOfDayOrNone = (value: string): number | null => (value === 'none' ? null : endOfDay(value));

export const collect =
  <Value>(take: (value: string) => Value) =>
  (value: string, before: Value[] = []): Value[] => [...before, take(value)];

const digits = (pattern: RegExp) => z.string().regex(pattern).transform(Number);
export const wholeNumber = by(digits(/^\d{1,12}$/), 'It must be a whole number, 0 or more.');
export const httpStatus = by(digits(/^[2-5]\d\d$/), 'It must be a status from 200 to 599.');
export const wholeNumberOrNone = (value: string): number | null =>
  value === 'none' ? null : wholeNumber(value);
export const textOrNone = (value: string): string | null => (value === 'none' ? null : value);

/** What was given as `none` is null again: commander turns a null into an empty text. */
export const withNulls = (options: object): object =>
  Object.fromEntries(Object.entries(options).map(([name, value]) => [name, value === '' ? null : value]));

/** Plain http is fine: it is this machine's, or the developer's own. */
export const webAddress = (value: string): string => {
  const problem = formErrorOf(urlIn(value), true);
  if (problem) throw new InvalidArgumentError(`It ${problem}.`);
  return value;
};

/** Options that hold a secret, and the variable that keeps it out of the shell's history. */
const SECRETS = {
  key: { option: '--key', variable: 'HANDBACK_API_KEY' },
  secret: { option: '--secret', variable: 'HANDBACK_WEBHOOK_SECRET' },
} as const;

export const secretOption = (name: keyof typeof SECRETS, description: string): Option =>
  new Option(`${SECRETS[name].option} <${name}>`, description).env(SECRETS[name].variable);

/** Not an argument parser of commander's, which would print the value that it refuses. */
export const usableSecret = (command: Command, name: keyof typeof SECRETS, value?: string): string => {
  if (value !== undefined && /^[\x21-\x7e]+$/.test(value)) return value;
  const { option, variable } = SECRETS[name];
  const problem = value ? 'must be printable characters without spaces' : 'is needed';
  return command.error(`error: option '${option}' (or ${variable} in the environment) ${problem}`);
};

const readLine = async (): Promise<string> => {
  const lines = createInterface({ input: process.stdin });
  for await (const line of lines) return line;
  return '';
};

const askUnseen = async (question: string): Promise<string> => {
  process.stderr.write(question);
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: unseen, terminal: true });
  try {
    return await terminal.question('');
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
};

/** As given, else asked for unseen at a terminal, else the first line of standard input. */
export const passwordFrom = async (given: string | undefined): Promise<string> => {
  const password = given ?? (process.stdin.isTTY ? await askUnseen('Password: ') : await readLine());
  const { least, most } = PASSWORD_LENGTH;
  if (!NewPassword.safeParse(password).success)
    throw new CliFailure(`the password must be ${least} to ${most} characters long`);
  return password;
};
