import { existsSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import type { Context } from '../api/context.ts';
import type { Config } from '../platform/config.ts';
import { CliFailure } from '../platform/start-failure.ts';

export const command = (parent: Command, spelling: string, description: string): Command =>
  parent.command(spelling).description(description).option('--json', 'print one line of JSON');

type Fields = Record<string, unknown>;
export type CommandResult = Fields | Fields[];

/** With `--json` one line of JSON and nothing else; otherwise something to read. */
export const print = (result: CommandResult, json: boolean | undefined): void => {
  const text = json ? JSON.stringify(result) : Array.isArray(result) ? table(result) : fields(result);
  process.stdout.write(`${text}\n`);
};

/** Names of shops and clients, and what receivers answer, come from outside. */
const shown = (value: unknown): string => {
  if (value === null) return '-';
  return Array.isArray(value) ? printable(value.join(', ')) || '-' : printable(String(value));
};

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

/** For what is no result: one line on standard error. It may quote a file, or a database, of others. */
export const notice = (message: string): void =>
  void process.stderr.write(`handback: ${printable(message)}\n`);

/** Of the log only errors: why a mail was not sent, for example. */
const noticeLine = (line: string): void => {
  const { msg, reason } = JSON.parse(line);
  notice(reason ? `${msg}: ${reason}` : msg);
};

/** For the help of options that hold a secret. */
export const IN_PROCESS_LIST = 'here it is visible in the process list';

export interface ContextOptions {
  /** A missing database is created in the default folder, too. */
  creates?: boolean;
  /** False for what is done first: all other commands have nothing to do in an empty database, which is probably another one. */
  mustBeSetUp?: boolean;
}

/** Nobody else waits for what a command asks for, so it may take longer than a request. */
const COMMAND_TIME_LIMIT_FACTOR = 10;

/** Work on the service's own database. */
export const withContext = async <Result>(
  config: Config,
  work: (ctx: Context) => Promise<Result>,
  { creates = false, mustBeSetUp = !creates }: ContextOptions = {},
): Promise<Result> => {
  const { databaseUrl, dataDir, dataDirIsSet } = config;
  const { fileIn } = await import('../db/open.ts');
  // A command without the settings of the service would create another database, in the folder where it runs.
  if ((mustBeSetUp || !(creates || dataDirIsSet)) && !databaseUrl && !existsSync(fileIn(dataDir)))
    throw new CliFailure(
      `there is no data in ${dataDir}: run this command with the settings of the service (DATABASE_URL or DATA_DIR), or in its folder. The first start of a service, or handback migrate, creates it`,
    );
  const [{ openContext }, { pino }] = await Promise.all([import('../app/context.ts'), import('pino')]);
  const timeLimitFactor = Math.max(config.timeLimitFactor, COMMAND_TIME_LIMIT_FACTOR);
  const ctx = await openContext(
    { ...config, timeLimitFactor },
    {
      log: pino({ level: 'error' }, { write: noticeLine }),
      mustBeSetUp,
      onWait: () => notice('waiting for the database (DATABASE_URL)'),
    },
  );
  try {
    return await work(ctx);
  } finally {
    await ctx.close();
  }
};

const ADDRESS_TIMEOUT_MS = 3_000;

/** Where the service was when it last started, if its data are here, unless this command's settings say how callers reach it. */
export const addressOfService = async (config: Config): Promise<string> => {
  const { publicUrl, publicUrlIsSet, databaseUrl, dataDir } = config;
  const [{ withSnapshot }, { findFact }, { fileIn }] = await Promise.all([
    import('../db/transfer.ts'),
    import('../db/installation-facts.ts'),
    import('../db/open.ts'),
  ]);
  if (publicUrlIsSet || !(databaseUrl || existsSync(fileIn(dataDir)))) return publicUrl;
  const reading = withSnapshot(config, ({ db }) => findFact(db, 'address'), {
    statementMs: ADDRESS_TIMEOUT_MS,
  });
  // The command needs no database: one that is away, or not set up, only does not know better.
  return (await reading.catch(() => null)) ?? publicUrl;
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

/** Checks a value by the schema that the API uses, and says with its words what is wrong. */
export const parsedBy =
  <Schema extends z.ZodType>(schema: Schema) =>
  (value: unknown): z.infer<Schema> => {
    const { success, data, error } = schema.safeParse(value);
    if (!success) throw new InvalidArgumentError(`It ${error.issues[0]?.message}.`);
    return data;
  };

const digits = (pattern: RegExp, must: string) => parsedBy(z.string().regex(pattern, must).transform(Number));
export const wholeNumber = digits(/^\d{1,12}$/, 'must be a whole number, 0 or more');
export const httpStatus = digits(/^[2-5]\d\d$/, 'must be a status from 200 to 599');
