import { type ComponentType, type ReactNode, Suspense, use } from 'react';
import { APP_PATH } from '../api.ts';
import { readTab, writeTab } from './tab-storage.ts';

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
  const { read } = loadable(load);
  const Loaded: Component = (props) => {
    const Read = read();
    return <Read {...props} />;
  };
  const Shown: Component = (props) => (
    <Suspense fallback={fallback(...([props] as Parameters<Part>))}>
      <Loaded {...props} />
    </Suspense>
  );
  // The browser keeps what was loaded. A failure is not kept: the part may be needed later, or never.
  return Object.assign(Shown as Part, { preload: () => void load().catch(() => {}) });
};

const Nothing: Component = () => null;

/** A part without which the page works, so nothing is shown where it cannot be loaded. */
export const lazyOptional = <Part extends Component>(load: () => Promise<Part>): Part =>
  lazyPart(() => load().catch(() => Nothing as Part));

/** A page or a part of it could not be loaded: the network or the service is away, or an upgrade has replaced its file. */
export class PageMissing extends Error {
  /** Tries once more; true when it is there. */
  readonly retry: () => Promise<boolean>;

  constructor(cause: unknown, retry: () => Promise<boolean>) {
    super('A part of this page could not be loaded.', { cause });
    this.retry = retry;
  }
}

/** React's own `lazy` would keep a failure until the document is reloaded. */
const loadable = <Loaded extends object>(load: () => Promise<Loaded>) => {
  let loaded: Loaded | null = null;
  let failure: PageMissing | null = null;
  let loading: Promise<void> | null = null;
  const preload = (): Promise<void> => {
    loading ??= load()
      .then(
        (result) => {
          loaded = result;
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
    // What began before this call may have begun before the network was back, and says nothing about now.
    await loading;
    if (!loaded) await preload();
    return loaded !== null;
  };
  /** For a component that is rendered: waits until it is there, or throws `PageMissing`. */
  const read = (): Loaded => {
    if (!loaded && failure) throw failure;
    if (!loaded) use(preload());
    return loaded as Loaded;
  };
  return { preload, read };
};

/** A page that loads when it is opened, or throws `PageMissing`. The router's own way would reload the document, also while offline. */
export const lazyPage = <Name extends string>(
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
) => {
  const { preload, read } = loadable<ComponentType>(async () => (await load())[name]);
  const Page = () => {
    const Read = read();
    return <Read />;
  };
  return Object.assign(Page, { preload });
};

// After an upgrade of the service, a tab that is still open requests files that are gone.

/** Whether the service answers. A reload without this question would end on the browser's own error page. */
export const isServiceThere = (): Promise<boolean> =>
  fetch(`${APP_PATH}/`, { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );

const RELOADED_AT = 'handback.reloaded-at';
const RELOAD_AGAIN_AFTER_MS = 60_000;

export const reloadOnce = (): void => {
  const last = readTab<number>(RELOADED_AT) ?? 0;
  if (Date.now() - last < RELOAD_AGAIN_AFTER_MS) return;
  writeTab(RELOADED_AT, Date.now());
  // Without storage nobody knows how often it was reloaded.
  if (readTab(RELOADED_AT) === null) return;
  window.location.reload();
};
