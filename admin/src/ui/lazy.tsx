import { type ComponentType, lazy, type ReactNode, Suspense, use } from 'react';

/** Resolves when the page is rendered and the browser is idle. */
export const whenIdle = (): Promise<void> =>
  new Promise((resolve) => {
    // Older versions of Safari lack requestIdleCallback.
    if ('requestIdleCallback' in window) window.requestIdleCallback(() => resolve());
    else setTimeout(resolve, 300);
  });

// biome-ignore lint/suspicious/noExplicitAny: its props are only passed on
type Component = (props: any) => ReactNode;

/** A part of a page that loads when it is shown, or ahead with `preload`. Until then the fallback is in its place. */
export const lazyPart = <Part extends Component>(
  load: () => Promise<Part>,
  fallback: (...props: Parameters<Part>) => ReactNode = () => null,
): Part & { preload(): void } => {
  const Loaded = lazy<Component>(async () => ({ default: await load() }));
  const Shown: Component = (props) => (
    <Suspense fallback={fallback(...([props] as Parameters<Part>))}>
      <Loaded {...props} />
    </Suspense>
  );
  return Object.assign(Shown as Part, { preload: () => void load().catch(() => {}) });
};

const Nothing: Component = () => null;

/** A part without which the page works, so nothing is shown where it cannot be loaded. */
export const lazyOptional = <Part extends Component>(load: () => Promise<Part>): Part =>
  lazyPart(() => load().catch(() => Nothing as Part));

/** A page could not be loaded: the network or the service is away, or an upgrade has replaced its file. */
export class PageMissing extends Error {
  /** Tries once more; true when the page is there. */
  readonly retry: () => Promise<boolean>;

  constructor(cause: unknown, retry: () => Promise<boolean>) {
    super('A part of this page could not be loaded.', { cause });
    this.retry = retry;
  }
}

/** A page that loads when it is opened, or throws `PageMissing`. The router's own way would reload the document, also while offline. */
export const lazyPage = <Name extends string>(
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
) => {
  let loaded: ComponentType | null = null;
  let failure: PageMissing | null = null;
  let loading: Promise<void> | null = null;
  const preload = (): Promise<void> => {
    loading ??= load()
      .then(
        (module) => {
          loaded = module[name];
        },
        (cause: unknown) => {
          failure = new PageMissing(cause, retry);
        },
      )
      .finally(() => {
        loading = null;
      });
    return loading;
  };
  const retry = async (): Promise<boolean> => {
    await preload();
    return loaded !== null;
  };
  const Page = () => {
    const Loaded: ComponentType | null = loaded;
    if (Loaded) return <Loaded />;
    if (failure) throw failure;
    use(preload());
    return null;
  };
  return Object.assign(Page, { preload });
};

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

export const reloadOnce = (): void => {
  const last = Number(sessionStorage.getItem(RELOADED_AT) ?? 0);
  if (Date.now() - last < RELOAD_AGAIN_AFTER_MS) return;
  sessionStorage.setItem(RELOADED_AT, String(Date.now()));
  window.location.reload();
};
