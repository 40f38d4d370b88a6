import { useEffect } from 'react';

/** For dialogs that are removed from the page to close them: the focus goes back to where it was when they opened. */
export const useReturnFocus = (): void =>
  useEffect(() => {
    const opener = document.activeElement;
    return () => {
      // The dialog's own focus trap lets go a moment later.
      setTimeout(() => {
        if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus();
      });
    };
  }, []);
