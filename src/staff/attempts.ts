import { type Turns, turns } from '../db/turns.ts';
import { tooManyAtOnce } from './passwords.ts';

const LIMITS = { atOnce: 1, waiting: 50, withinMs: 10_000, refusal: tooManyAtOnce };

/** Sign-ins in progress, by e-mail and address. */
const queues = new Map<string, { turns: Turns; users: number }>();

/**
 * Runs sign-ins for one e-mail from one address one after another. So every failure is counted before the next guess, and
 * guessing in parallel gains nothing.
 */
export const attemptInTurn = async <Result>(
  email: string,
  address: string,
  attempt: () => Promise<Result>,
): Promise<Result> => {
  const key = JSON.stringify([email, address]);
  const queue = queues.get(key) ?? { turns: turns(LIMITS), users: 0 };
  queues.set(key, queue);
  queue.users += 1;
  try {
    return await queue.turns.run(attempt);
  } finally {
    queue.users -= 1;
    if (queue.users === 0) queues.delete(key);
  }
};
