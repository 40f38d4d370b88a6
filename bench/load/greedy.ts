import { fileURLToPath } from 'node:url';
import { type Child, startChild } from '../children.ts';

const RUN = fileURLToPath(new URL('./greedy-run.ts', import.meta.url));

export interface GreedyOrder {
  url: string;
  paths: string[];
  key: string;
  /** Who ask again as soon as they have their response. */
  callers: number;
  /** Who ask once and take a few kilobytes a second. */
  slowReaders: number;
}

/** One shop's callers who take all they can get, in a process of their own. Slow readers have begun to read when this comes back. */
export const startGreedy = (order: GreedyOrder): Promise<Child> =>
  startChild(process.execPath, [RUN, JSON.stringify(order)], /under way/);
