import { useSyncExternalStore } from 'react';

// Times are written relative to now ("3 minutes ago", "due tomorrow"), so a page that stays open renders them again.

const TICK_MS = 1_000;
const MINUTE_MS = 60_000;

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** All components share one timer; most find at each tick that their step has not passed yet. */
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
};

/** The present time. The component renders again when the next minute, or another step, begins. */
export const useNow = (stepMs = MINUTE_MS): number => {
  useSyncExternalStore(subscribe, () => Math.floor(Date.now() / stepMs));
  return Date.now();
};
