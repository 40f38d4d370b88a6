import { databaseFault, isUnavailable } from './db/errors.ts';
import { ServiceError } from './errors.ts';

const isSystemError = (error: Error): boolean => 'syscall' in error && 'errno' in error;

/** Messages that never quote data. Others may: a parser quotes the text, a database the row, V8 the value it could not use. */
const isSafeMessage = (error: Error): boolean =>
  error instanceof ServiceError || isSystemError(error) || isUnavailable(error);

/** Where it happened, without the message, which may have lines that look like frames. */
const framesOf = ({ stack = '', message }: Error): string => {
  const end = stack.indexOf(message) + message.length;
  const frames = stack.slice(stack.includes(message) ? end : 0).split('\n');
  return frames.filter((line) => line.startsWith('    at ')).join('\n');
};

/** An error as it may be logged: what kind, where, and a message only where it cannot hold a customer's data (ADR 0024). */
export const describeError = (error: unknown): object => {
  if (!(error instanceof Error)) return { type: typeof error };
  const { code } = error as { code?: unknown };
  const fault = databaseFault(error) ?? {
    ...(typeof code === 'string' ? { code } : {}),
    ...(isSafeMessage(error) ? { message: error.message } : {}),
  };
  return {
    type: error.name,
    ...fault,
    stack: framesOf(error),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
};
