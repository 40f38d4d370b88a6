/** Shows a notification. The library behind it loads after the page, since nothing needs it before. */
export const notify = async (notification: { message: string; title?: string; color?: string }) => {
  // Where it cannot be loaded there is no way to show anything; the page itself works without.
  const area = await import('./notification-area.tsx').catch(() => null);
  area?.show({ color: 'teal', closeButtonProps: { 'aria-label': 'Close' }, ...notification });
};

export const notifyDone = (message: string): void => void notify({ message });
