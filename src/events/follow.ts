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
  const endsAt = performance.now() + wait * 1000;
  const leftMs = () => endsAt - performance.now();
  for (;;) {
    // Before the look: an event that comes after it ends the wait.
    const watch = after !== LATEST && leftMs() > 0 ? ctx.feedWatches.watch(shopId) : null;
    try {
      const { page, isEmpty } = await readFeed(ctx, shopId, start, limit);
      if (!isEmpty || !watch) return page;
      await watch.untilCalled(leftMs(), signal);
      if (signal.aborted) return page;
    } finally {
      watch?.end();
    }
    await checkAgain();
  }
};
