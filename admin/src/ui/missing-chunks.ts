// The app loads its chunks when they are needed. After an upgrade of the service, a tab that is still open asks for chunks
// that are gone.

const missing = new WeakSet<object>();
window.addEventListener('vite:preloadError', ({ payload }) => missing.add(payload));

export const isMissingChunk = (error: unknown): error is Error =>
  error instanceof Error && missing.has(error);

const RELOADED_AT = 'handback.reloaded-at';
const RELOAD_AGAIN_AFTER_MS = 60_000;

/** Reloads the page, unless it is offline or was reloaded a moment ago. Returns whether it does. */
export const reloadOnce = (): boolean => {
  const last = Number(sessionStorage.getItem(RELOADED_AT) ?? 0);
  if (!navigator.onLine || Date.now() - last < RELOAD_AGAIN_AFTER_MS) return false;
  sessionStorage.setItem(RELOADED_AT, String(Date.now()));
  window.location.reload();
  return true;
};
