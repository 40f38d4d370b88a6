import { existsSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import type { Context } from '../api/context.ts';
import type { Config } from '../platform/config.ts';
import { CliFailure } from '../platform/start-failure.ts';

export const command = (parent: Command, usage: string, description: string): Command =>
  parent.command(usage).description(description).option('--json', 'print one line of JSON');

type Fields = Record<string, unknown>;
export type CommandResult = Fields | Fields[];

/** Prints one line of JSON with `--json`, and otherwise text for people. */
export const print = (result: CommandResult, json: boolean | undefined): void => {
  const text = json ? JSON.stringify(result) : Array.isArray(result) ? asTable(result) : asFields(result);
  process.stdout.write(`${text}\n`);
};

/** Formats a value for a terminal. Names of shops and clients, and responses of receivers, are untrusted text. */
const asCell = (value: unknown): string => {
  if (value === null) return '-';
  return Array.isArray(value) ? printable(value.join(', ')) || '-' : printable(String(value));
};

const asFields = (result: Fields): string => {
  const width = Math.max(...Object.keys(result).map((name) => name.length));
  return Object.entries(result)
    .map(([name, value]) => `${name.padEnd(width)}  ${asCell(value)}`)
    .join('\n');
};

const asTable = (rows: Fields[]): string => {
  const first = rows[0];
  if (!first) return '(none)';
  const names = Object.keys(first);
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => asCell(row[name]).length)));
  const line = (cells: string[]) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(names), ...rows.map((row) => line(names.map((name) => asCell(row[name]))))].join('\n');
};

/** Removes characters from untrusted text that would move the cursor of a terminal or change its colours. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim();

/** Prints a line that is not a result on standard error. The message may quote untrusted files or databases. */
export const notice = (message: string): void =>
  void process.stderr.write(`handback: ${printable(message)}\n`);

/** Prints an error of the log, for example why an email was not sent. */
const noticeLogLine = (line: string): void => {
  const { msg, reason } = JSON.parse(line);
  notice(reason ? `${msg}: ${reason}` : msg);
};

/** A warning in the help of options that take a secret. */
export const IN_PROCESS_LIST = 'on the command line it is visible in the process list';

export interface ContextOptions {
  /** True if a missing database is created, even in the default folder. */
  creates?: boolean;
  /** False for commands that set up the service. Any other command has nothing to do in an empty database, which is probably the wrong one. */
  mustBeSetUp?: boolean;
}

/** The factor for time limits of a command, which may take longer than a request since no other caller waits for it. */
const COMMAND_TIME_LIMIT_FACTOR = 10;

export const withContext = async <Result>(
  config: Config,
  work: (ctx: Context) => Promise<Result>,
  { creates = false, mustBeSetUp = !creates }: ContextOptions = {},
): Promise<Result> => {
  const { databaseUrl, dataDir, dataDirIsSet } = config;
  const { fileIn } = await import('../db/open.ts');
  // Without the settings of the service a command would create a second database in the current folder.
  if ((mustBeSetUp || !(creates || dataDirIsSet)) && !databaseUrl && !existsSync(fileIn(dataDir)))
    throw new CliFailure(
      `there is no data in ${dataDir}: run this command with the settings of the service (DATABASE_URL or DATA_DIR), or in its folder. The first start of a service, or handback migrate, creates it`,
    );
  const [{ openContext }, { pino }] = await Promise.all([import('../app/context.ts'), import('pino')]);
  const timeLimitFactor = Math.max(config.timeLimitFactor, COMMAND_TIME_LIMIT_FACTOR);
  const ctx = await openContext(
    { ...config, timeLimitFactor },
    {
      log: pino({ level: 'error' }, { write: noticeLogLine }),
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

/** Returns PUBLIC_URL if it is set, else the address at the last start of the service if its data are here. */
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
  // The command needs no database, so one that is unavailable or not set up is ignored.
  return (await reading.catch(() => null)) ?? publicUrl;
};

const PROGRESS_EVERY_MS = 100;
const ERASE_LINE = '\r\u001b[K';

/** Shows the progress of a command on a terminal, and nothing elsewhere. */
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

/** Makes a parser that checks a value with the schema of the API, and reports errors in the words of the schema. */
export const parserFor =
  <Schema extends z.ZodType>(schema: Schema) =>
  (value: unknown): z.infer<Schema> => {
    const { success, data, error } = schema.safeParse(value);
    if (!success) throw new InvalidArgumentError(`It ${error.issues[0]?.message}.`);
    return data;
  };

const digitsParser = (pattern: RegExp, must: string) =>
  parserFor(z.string().regex(pattern, must).transform(Number));
export const parseWholeNumber = digitsParser(/^\d{1,12}$/, 'must be a whole number, 0 or more');
export const parseHttpStatus = digitsParser(/^[2-5]\d\d$/, 'must be a status from 200 to 599');
