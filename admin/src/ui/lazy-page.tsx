import { type ComponentType, use } from 'react';

/** A page could not be loaded: the network or the service is away, or an upgrade has replaced its file. */
export class PageMissing extends Error {
  /** Tries once more; true when the page is there. */
  readonly retry: () => Promise<boolean>;

  constructor(cause: unknown, retry: () => Promise<boolean>) {
    super('A part of this page could not be loaded.', { cause });
    this.retry = retry;
  }
}

/**
 * A page that loads when it is opened. Where it cannot be loaded it throws `PageMissing`. The router's own way would reload
 * the document instead, which leads out of the app while the network is away.
 */
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
