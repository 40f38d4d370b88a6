import { Kbd, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useEffect, useLayoutEffect, useState } from 'react';
import { KIND_OF } from '../returns/kinds.ts';
import { onlyMatch, searchQuery } from '../returns/queries.ts';
import { texts } from '../texts.ts';
import { lazyPart, whenIdle } from '../ui/lazy.tsx';
import { notify, notifyFailed } from '../ui/notify.ts';
import { keyLabel, useScanner, useShortcuts } from '../ui/shortcuts.ts';
import { useRememberOpened } from './commands.ts';
import styles from './header-search.module.css';

const SearchDialog = lazyPart(async () => (await import('./search-dialog.tsx')).SearchDialog);

/** Opens the search over both kinds: a click, Ctrl-K, `/`, or a scan anywhere on a page. */
export const HeaderSearch = () => {
  /** What the search begins with; null while it is closed. */
  const [text, setText] = useState<string | null>(null);
  const [said, setSaid] = useState('');
  const open = () => setText('');
  useEffect(() => void whenIdle().then(SearchDialog.preload), []);
  useShortcuts([
    { key: '/', label: texts.search.label, run: open },
    { key: 'mod+k', label: texts.search.label, run: open },
  ]);
  useScanner(useOpenScanned(setText, setSaid));
  useRememberOpened();
  return (
    <>
      <UnstyledButton className={styles['field'] ?? ''} onClick={open} aria-keyshortcuts="/ Control+K Meta+K">
        <Search />
        <span className={styles['hint']}>{texts.search.open}</span>
        <Kbd size="xs" className={styles['key'] ?? ''}>
          {keyLabel('mod+k')}
        </Kbd>
      </UnstyledButton>
      <VisuallyHidden role="status">{said}</VisuallyHidden>
      {text === null ? null : (
        <>
          <KeepKeys onKey={(key) => setText((kept) => (kept ?? '') + key)} />
          <SearchDialog text={text} onText={setText} onClose={() => setText(null)} />
        </>
      )}
    </>
  );
};

/** Keeps what is typed before the dialog's field has the focus, also when the shortcut was pressed in another field. */
const KeepKeys = ({ onKey }: { onKey(key: string): void }) => {
  // A layout effect: the next key may come before the browser paints.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it only adds to the text, whichever render it is from
  useLayoutEffect(() => {
    const keep = (event: KeyboardEvent): void => {
      if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof Element && event.target.closest('[role="dialog"]')) return;
      event.preventDefault();
      onKey(event.key);
    };
    document.addEventListener('keydown', keep, { capture: true });
    return () => document.removeEventListener('keydown', keep, { capture: true });
  }, []);
  return null;
};

const useOpenScanned = (onSeveral: (text: string) => void, onNothing: (said: string) => void) => {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return async (text: string) => {
    try {
      const found = await queryClient.fetchQuery(searchQuery(text));
      const only = onlyMatch(found);
      if (only) await navigate({ to: KIND_OF[only.kind].detail, params: { id: only.id } });
      else if (found.length > 0) onSeveral(text);
      else {
        const message = texts.search.nothing(text);
        onNothing(message);
        void notify({ color: 'red', title: texts.search.notFound, message });
      }
    } catch (error) {
      notifyFailed(texts.search.failed(text), error);
    }
  };
};
