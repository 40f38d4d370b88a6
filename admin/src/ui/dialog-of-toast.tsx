import { type ReactNode, useEffect, useSyncExternalStore } from 'react';

// A button of a toast may open a dialog. The page it belongs to may be gone by then, so the shell shows it.

let shown: ReactNode = null;
let redraw: () => void = () => {};
const show = (dialog: ReactNode): void => {
  shown = dialog;
  redraw();
};
const subscribe = (onChange: () => void) => {
  redraw = onChange;
  return () => {
    redraw = () => {};
  };
};

/** Shows a dialog above whatever page is open; `render` gets what closes it. */
export const openDialog = (render: (close: () => void) => ReactNode): void => show(render(() => show(null)));

/** In the shell: the dialog that a toast opened. The next person who signs in does not see it. */
export const ToastDialog = () => {
  useEffect(() => () => show(null), []);
  return useSyncExternalStore(subscribe, () => shown);
};
