import { type EventQuery, LATEST } from '../../contract/event-feed.ts';
import type { Context } from '../context.ts';
import { readFeed, startOf } from './feed.ts';

interface Waiting {
  /** Aborts when the caller has left. */
  signal: AbortSignal;
  /** Throws where the caller may not read any more: a key may be revoked while its request waits. */
  checkAgain(): Promise<void>;
}

/** A page of the shop's feed, as JSON. Where there is nothing new, it waits for that as long as the query says. */
export const followFeed = async (
  ctx: Context,
  shopId: string,
  { after, limit, wait }: EventQuery,
  { signal, checkAgain }: Waiting,
): Promise<string> => {
  const start = await startOf(ctx, shopId, after);
  const read = () => readFeed(ctx, shopId, start, limit);
  const endsAt = performance.now() + wait * 1000;
  const leftMs = () => endsAt - performance.now();
  let found = await read();
  while (found.isEmpty && after !== LATEST && leftMs() > 0 && !signal.aborted) {
    const watch = await ctx.feedWatches.watch(shopId);
    if (!watch) break;
    try {
      // Once more: something may have come between the last look and the watch.
      found = await read();
      if (found.isEmpty) await watch.something(leftMs(), signal);
    } finally {
      watch.end();
    }
    await checkAgain();
    if (found.isEmpty && !signal.aborted) found = await read();
  }
  return found.page;
};
