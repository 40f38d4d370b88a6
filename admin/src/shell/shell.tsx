import { Title, UnstyledButton, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { Menu, Moon, Sun, X } from 'lucide-react';
import { Suspense, useState } from 'react';
import { HeaderSearch } from '../search/header-search.tsx';
import { useSession } from '../session/session.ts';
import { SessionEnd } from '../session/session-end.tsx';
import { lazyOptional, whenIdle } from '../ui/lazy.tsx';
import { Mark } from '../ui/mark.tsx';
import { Loading } from '../ui/page-frame.tsx';
import { useShortcuts } from '../ui/shortcuts.ts';
import { Navigation } from './navigation.tsx';
import { Notices } from './notices.tsx';
import styles from './shell.module.css';

const NotificationArea = lazyOptional(async () => {
  await whenIdle();
  return (await import('../ui/notification-area.tsx')).NotificationArea;
});

const ShortcutList = lazyOptional(async () => (await import('../ui/shortcut-list.tsx')).ShortcutList);

/** The header and the navigation around every page. */
export const Shell = () => {
  const [opened, { toggle, close }] = useDisclosure();
  const { shop } = useSession();
  const path = useRouterState({ select: (state) => state.location.pathname });
  return (
    <div className={styles['shell']}>
      <SkipLinks />
      <header className={`${styles['header']} not-printed`}>
        <UnstyledButton
          className={`${styles['icon']} ${styles['burger']}`}
          onClick={toggle}
          aria-label="Menu"
          aria-expanded={opened}
          aria-controls="pages"
        >
          {opened ? <X size={20} aria-hidden /> : <Menu size={20} aria-hidden />}
        </UnstyledButton>
        <div className={styles['brand']}>
          <Mark />
          <Title order={1}>Handback</Title>
        </div>
        <HeaderSearch />
        <span className={styles['shop']}>{shop.name}</span>
        <SchemeSwitch />
      </header>
      <nav
        id="pages"
        aria-label="Pages"
        className={`${styles['nav']} not-printed`}
        data-opened={opened || undefined}
      >
        <Navigation path={path} onNavigate={close} />
      </nav>
      <main className={styles['main']} tabIndex={-1}>
        <Notices />
        <Suspense fallback={<Loading />}>
          <Outlet />
        </Suspense>
      </main>
      <NotificationArea />
      <ShortcutHelp />
      <SessionEnd />
    </div>
  );
};

/** `?` shows the keys that work on the page. */
const ShortcutHelp = () => {
  const [open, setOpen] = useState(false);
  useShortcuts([{ key: '?', label: 'Show these keys', run: () => setOpen(true) }]);
  return open ? <ShortcutList onClose={() => setOpen(false)} /> : null;
};

const SchemeSwitch = () => {
  const { toggleColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme();
  return (
    <UnstyledButton
      className={`${styles['icon']} ${styles['switch']}`}
      onClick={toggleColorScheme}
      aria-label="Switch between light and dark"
    >
      {scheme === 'dark' ? <Sun size={18} aria-hidden /> : <Moon size={18} aria-hidden />}
    </UnstyledButton>
  );
};

/** The first row of a list, whether it is a table or cards. */
const FIRST_ROW = 'main :is(tbody, ul) a[href]';

const focusOn = (element: HTMLElement | null | undefined): void => {
  element?.focus();
  element?.scrollIntoView({ block: 'nearest' });
};

/** The first things that the keyboard reaches: past the menu, and past the filters of a list. */
const SkipLinks = () => {
  const [hasRows, setHasRows] = useState(false);
  const look = () => setHasRows(document.querySelector(FIRST_ROW) !== null);
  return (
    <div className={styles['skip-links']}>
      <button type="button" onFocus={look} onClick={() => focusOn(document.querySelector('main'))}>
        Skip to the page
      </button>
      {hasRows ? (
        <button type="button" onClick={() => focusOn(document.querySelector<HTMLElement>(FIRST_ROW))}>
          Skip to the list
        </button>
      ) : null}
    </div>
  );
};
