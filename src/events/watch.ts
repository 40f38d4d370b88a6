import type { Base } from '../base.ts';
import { describeError } from '../describe-error.ts';

// Requests that wait for a shop's next event. They hold no connection to the database: one wake-up call, the same that the
// dispatcher gets, ends their wait, and they read again.

/** Beyond so many nobody waits: the answer comes at once, as without `wait`. */
const MOST_WAITING = { perShop: 500, total: 2_000 } as const;
/** A call is lost where a process dies right after its commit. */
const LOOK_AGAIN_MS = 5_000;

/** Made before the look at the feed: what comes after the look is not missed. */
interface Watch {
  /** Resolves when there may be something new, or when it is time to look again. */
  untilCalled(withinMs: number, signal: AbortSignal): Promise<void>;
  end(): void;
}

export interface FeedWatches {
  /** null: too many wait already, or the service stops. */
  watch(shopId: string): Watch | null;
  /** Ends every wait, and lets nobody wait from now on. */
  stop(): Promise<void>;
}

type Needed = Pick<Base, 'onWake' | 'metrics' | 'log'>;

export const openFeedWatches = (base: Needed): FeedWatches => {
  const watching = new Map<string, Set<() => void>>();
  let total = 0;
  let isStopped = false;
  let listening: ReturnType<Base['onWake']> | null = null;

  const callAll = (shopIds: Iterable<string>): void => {
    for (const shopId of [...shopIds]) for (const call of [...(watching.get(shopId) ?? [])]) call();
  };
  const enter = (shopId: string, call: () => void): void => {
    const own = watching.get(shopId) ?? new Set();
    watching.set(shopId, own.add(call));
    total += 1;
  };
  const leave = (shopId: string, call: () => void): void => {
    const own = watching.get(shopId);
    if (!own?.delete(call)) return;
    total -= 1;
    if (own.size === 0) watching.delete(shopId);
  };

  return {
    watch(shopId) {
      const isFull = total >= MOST_WAITING.total || (watching.get(shopId)?.size ?? 0) >= MOST_WAITING.perShop;
      if (isStopped || isFull) return null;
      listening ??= base.onWake('events', (id) => callAll(id === null ? watching.keys() : [id]));
      let called = false;
      let wake = (): void => {};
      const call = (): void => {
        called = true;
        wake();
      };
      enter(shopId, call);
      return {
        async untilCalled(withinMs, signal) {
          if (called || isStopped || signal.aborted) return;
          base.metrics.pauseRequest();
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, Math.min(withinMs, LOOK_AGAIN_MS));
            wake = () => {
              clearTimeout(timer);
              resolve();
            };
            signal.addEventListener('abort', wake, { once: true });
          });
          base.metrics.resumeRequest();
        },
        end: () => leave(shopId, call),
      };
    },
    async stop() {
      isStopped = true;
      callAll(watching.keys());
      const unlisten = await listening?.catch((error) => {
        base.log.warn({ fault: describeError(error) }, 'listening for events failed');
        return null;
      });
      await unlisten?.();
    },
  };
};
