import { type Turns, turns } from '../db/turns.ts';
import { tooManyAtOnce } from './passwords.ts';

const LIMITS = { atOnce: 1, waiting: 50, withinMs: 10_000, refusal: tooManyAtOnce };

/** Who is signing in at this moment, by e-mail and address. */
const lines = new Map<string, { turns: Turns; users: number }>();

/**
 * Sign-ins for one e-mail from one address run one after another. So one that is under way is no failure yet, and guesses made
 * side by side are no more than those made one after another.
 */
export const attemptInTurn = async <Result>(
  email: string,
  address: string,
  attempt: () => Promise<Result>,
): Promise<Result> => {
  const key = JSON.stringify([email, address]);
  const line = lines.get(key) ?? { turns: turns(LIMITS), users: 0 };
  lines.set(key, line);
  line.users += 1;
  try {
    return await line.turns.run(attempt);
  } finally {
    line.users -= 1;
    if (line.users === 0) lines.delete(key);
  }
};
