import { errorMessage } from '../api.ts';
import type { Toast } from './notification-area.tsx';

/** Shows a notification. The library behind it loads after the page, since nothing needs it before. */
export const notify = async (toast: Toast) => {
  // Where it cannot be loaded there is no way to show anything; the page itself works without.
  const area = await import('./notification-area.tsx').catch(() => null);
  area?.showToast(toast);
};

/** What is shown was meant for the person who was signed in, and so are its buttons. */
export const clearToasts = async (): Promise<void> =>
  (await import('./notification-area.tsx').catch(() => null))?.clearToasts();

export const notifyDone = (message: string): void => void notify({ message });

export const notifyFailed = (title: string, error: unknown): void =>
  void notify({ color: 'red', title, message: errorMessage(error) });
