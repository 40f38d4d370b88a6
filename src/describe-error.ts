import { databaseFault } from './db/errors.ts';

/** An error as it may be logged: a driver's message can quote a row, so of those only code and place are kept. */
export const describeError = (error: unknown): object => {
  if (!(error instanceof Error)) return { type: typeof error };
  const fault = databaseFault(error);
  const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
  return { type: error.name, ...(fault ?? { message: error.message }), stack: frames.join('\n') };
};
