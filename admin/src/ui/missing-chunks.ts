import { type ComponentType, lazy } from 'react';

// The app's parts are loaded when they are wanted. In a tab left open while the service was upgraded they may be gone.

const missing = new WeakSet<object>();
window.addEventListener('vite:preloadError', ({ payload }) => missing.add(payload));

export const isMissingChunk = (error: unknown): error is Error =>
  error instanceof Error && missing.has(error);

const RELOADED = 'handback.reloaded-at';
const AGAIN_AFTER_MS = 60_000;

/** Fetches the page anew where that may help: once, and not without a connection. Says whether it does. */
export const reloadOnce = (): boolean => {
  const last = Number(sessionStorage.getItem(RELOADED) ?? 0);
  if (!navigator.onLine || Date.now() - last < AGAIN_AFTER_MS) return false;
  sessionStorage.setItem(RELOADED, String(Date.now()));
  window.location.reload();
  return true;
};

/** When the page stands and the browser has nothing better to do. */
export const whenIdle = (): Promise<void> =>
  new Promise((resolve) => {
    // Safari has it only since lately.
    if ('requestIdleCallback' in window) window.requestIdleCallback(() => resolve());
    else setTimeout(resolve, 300);
  });

const Nothing = () => null;

/** A part that comes after the page, and without which the page does as well. */
export const lazyOptional = <Props extends object>(load: () => Promise<ComponentType<Props>>) =>
  lazy(() =>
    load().then(
      (part) => ({ default: part }),
      () => ({ default: Nothing as ComponentType<Props> }),
    ),
  );
