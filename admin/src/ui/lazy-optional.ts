import { type ComponentType, lazy } from 'react';

/** Resolves when the page is rendered and the browser is idle. */
export const whenIdle = (): Promise<void> =>
  new Promise((resolve) => {
    // Older versions of Safari lack requestIdleCallback.
    if ('requestIdleCallback' in window) window.requestIdleCallback(() => resolve());
    else setTimeout(resolve, 300);
  });

const Nothing = () => null;

/** A component that loads after the page. The page works without it, so nothing is shown where it cannot be loaded. */
export const lazyOptional = <Props extends object>(load: () => Promise<ComponentType<Props>>) =>
  lazy(() =>
    load().then(
      (component) => ({ default: component }),
      () => ({ default: Nothing as ComponentType<Props> }),
    ),
  );
