interface Told {
  message: string;
  title?: string;
  color?: string;
}

/** Something said in passing. Where it is said is loaded after the page: nothing is to be said before. */
export const notify = async (told: Told): Promise<void> => {
  const corner = await import('./notifications.tsx').catch(() => null);
  corner?.show({ color: 'teal', closeButtonProps: { 'aria-label': 'Close' }, ...told });
};

/** That something was done. */
export const notifyDone = (message: string): void => void notify({ message });
