import { Suspense, useState } from 'react';
import { lazyOptional } from './lazy-optional.ts';
import { useShortcuts } from './shortcuts.ts';

const ShortcutList = lazyOptional(() => import('./shortcut-list.tsx').then((module) => module.ShortcutList));

/** `?` shows the keys that work on the page. */
export const ShortcutHelp = () => {
  const [open, setOpen] = useState(false);
  useShortcuts([{ key: '?', label: 'Show these keys', run: () => setOpen(true) }]);
  return open ? (
    <Suspense>
      <ShortcutList onClose={() => setOpen(false)} />
    </Suspense>
  ) : null;
};
