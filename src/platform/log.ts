import { fstatSync, write } from 'node:fs';
import { isatty } from 'node:tty';
import { type Logger, pino } from 'pino';
import { describeDatabaseError, isUnavailable } from '../db/database-errors.ts';
import { ServiceError } from './errors.ts';

// Writes log lines to standard output without delaying the service: lines that a full disk, a closed pipe or a slow reader does
// not accept are dropped and counted. There is one write at a time; lines that arrive meanwhile share the next. It does not use
// pino.destination, which keeps a thread in write() while a pipe's reader sleeps, so that the process never exits, and stops
// counting when the pipe is closed.

/** The limit of waiting lines in characters. Further lines are dropped. */
const MOST_WAITING_CHARACTERS = 1024 * 1024;
const STDOUT = 1;

/** Calls back with the number of bytes that were accepted. */
type WriteBytes = (bytes: Buffer, done: (written: number) => void) => void;

/** Writes to a file or device, for which a thread waits no longer than a disk takes. */
const writeToFile = (bytes: Buffer, done: (written: number) => void, start = 0): void =>
  write(STDOUT, bytes, start, bytes.length - start, null, (error, count) => {
    if (error || count === 0) done(start);
    else if (start + count < bytes.length) writeToFile(bytes, done, start + count);
    else done(bytes.length);
  });

/** Writes to a pipe or terminal, for whose reader a thread could wait for ever; Node's stream waits for an event. */
const writeToStream: WriteBytes = (bytes, done) => {
  process.stdout.write(bytes, (error) => done(error ? 0 : bytes.length));
};

const standardOutput = (): WriteBytes => {
  const stat = fstatSync(STDOUT);
  if (!stat.isFIFO() && !stat.isSocket() && !isatty(STDOUT)) return writeToFile;
  // A closed pipe also reports through the callback of each write.
  process.stdout.on('error', () => {});
  return writeToStream;
};

export const boundedDestination = (writeBytes: WriteBytes, onDropped: (lines: number) => void) => {
  let waiting = '';
  let writing = false;
  let isMidLine = false;
  let whenWritten: (() => void)[] = [];

  const writeNext = (): void => {
    writing = waiting !== '';
    if (!writing) {
      for (const resolve of whenWritten.splice(0)) resolve();
      return;
    }
    // After a partial line the next one begins on a new line.
    const bytes = Buffer.from(isMidLine ? `\n${waiting}` : waiting);
    waiting = '';
    writeBytes(bytes, (written) => {
      if (written < bytes.length) onDropped(bytes.toString('latin1', written).split('\n').length - 1);
      if (written > 0) isMidLine = bytes[written - 1] !== 0x0a;
      writeNext();
    });
  };

  return {
    write(line: string): void {
      if (waiting.length + line.length > MOST_WAITING_CHARACTERS) return void onDropped(1);
      waiting += line;
      if (writing) return;
      writing = true;
      setImmediate(writeNext);
    },
    flush(done: () => void): void {
      whenWritten = [...whenWritten, done];
      if (!writing) writeNext();
    },
  };
};

export const createLog = (level: string, onDropped: (lines: number) => void): Logger =>
  pino({ level }, boundedDestination(standardOutput(), onDropped));

/** Whether a message never quotes data. A parser quotes the text, a database the row, V8 the value. */
const isSafeMessage = (error: Error): boolean =>
  error instanceof ServiceError || ('syscall' in error && 'errno' in error) || isUnavailable(error);

/** The stack without the message, which may have lines that look like frames. */
const framesOf = ({ stack = '', message }: Error): string => {
  const lines = stack.replace(message, '').split('\n');
  return lines.filter((line) => line.startsWith('    at ')).join('\n');
};

/** An error in the form that may be logged: its kind and place, and a message only if that cannot contain a customer's data (ADR 0024). */
export const describeError = (error: unknown): object => {
  if (!(error instanceof Error)) return { type: typeof error };
  const { code, row } = error as { code?: unknown; row?: unknown };
  const problem = describeDatabaseError(error) ?? {
    code: typeof code === 'string' ? code : undefined,
    message: isSafeMessage(error) ? error.message : undefined,
  };
  const cause = error.cause === undefined ? undefined : describeError(error.cause);
  const of = typeof row === 'string' ? { row } : {};
  return { type: error.name, ...problem, ...of, stack: framesOf(error), cause };
};

/** For a promise that may fail: `.catch(warning(log, 'the mail was not sent'))`. */
export const warning =
  (log: Logger, message: string) =>
  (error: unknown): void =>
    log.warn({ error: describeError(error) }, message);
