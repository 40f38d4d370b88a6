import { askedProcess } from './asked-process.ts';

/** For how long an event loop was blocked at most since the last question: by the clock, and by its own work. */
interface Blocked {
  clockMs: number;
  workMs: number;
}

/** Settings for a process whose event loop is watched, and what was seen. */
export const watchedEventLoop = () => {
  const { env, ask } = askedProcess<Blocked>('watch-event-loop', 'TEST_EVENT_LOOP_FILE');
  return { env, longestBlock: ask };
};
