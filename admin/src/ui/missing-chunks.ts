// The app loads its chunks when they are needed. After an upgrade of the service, a tab that is still open asks for chunks
// that are gone; while the network is away it asks in vain.

const missing = new WeakSet<object>();
window.addEventListener('vite:preloadError', ({ payload }) => missing.add(payload));

export const isMissingChunk = (error: unknown): error is Error =>
  error instanceof Error && missing.has(error);

/** Whether the service answers. A reload without this question would end on the browser's own error page. */
export const isServiceThere = (): Promise<boolean> =>
  fetch('/admin/', { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );

const RELOADED_AT = 'handback.reloaded-at';
const RELOAD_AGAIN_AFTER_MS = 60_000;

/** Reloads the page, unless it was reloaded a moment ago. */
export const reloadOnce = (): void => {
  const last = Number(sessionStorage.getItem(RELOADED_AT) ?? 0);
  if (Date.now() - last < RELOAD_AGAIN_AFTER_MS) return;
  sessionStorage.setItem(RELOADED_AT, String(Date.now()));
  window.location.reload();
};
