import {
  Alert,
  Group,
  Stack,
  Text,
  Title,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { onlineManager, useQuery } from '@tanstack/react-query';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import {
  BookOpen,
  CalendarCheck,
  CircleUserRound,
  Ellipsis,
  LogOut,
  Moon,
  ScanLine,
  Settings,
  Sun,
  Undo2,
  Wrench,
  X,
} from 'lucide-react';
import { type ReactNode, Suspense, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { Overview } from '../../../contract/admin.ts';
import { PLANS_WITH_API } from '../../../contract/admin-plans.ts';
import { PUBLIC_PATH } from '../api.ts';
import { HeaderSearch } from '../search/header-search.tsx';
import { SessionEnd } from '../session/interruptions.tsx';
import { type Session, useSession, useSignOut } from '../session/session.ts';
import { overviewQuery, WARN_AT_PERCENT } from '../shop-queries.ts';
import { texts } from '../texts.ts';
import { lazyOptional, whenIdle } from '../ui/lazy.tsx';
import { ButtonLink } from '../ui/links.tsx';
import { Mark } from '../ui/mark.tsx';
import { Loading } from '../ui/page-frame.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { useShortcuts } from '../ui/shortcuts.ts';
import styles from './shell.module.css';

const words = texts.shell;

const NotificationArea = lazyOptional(async () => {
  await whenIdle();
  return (await import('../ui/notification-area.tsx')).NotificationArea;
});

/** What a toast opens: a note, or a list of what failed. */
const ToastDialog = lazyOptional(async () => {
  await whenIdle();
  return (await import('../ui/dialog-of-toast.tsx')).ToastDialog;
});

const ShortcutList = lazyOptional(async () => (await import('../ui/shortcut-list.tsx')).ShortcutList);

/** What had the focus went with the page before: the next key begins at the new page, not at the menu. */
const useFocusOnPage = (): void => {
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const before = useRef(path);
  useEffect(() => {
    if (before.current !== undefined && before.current !== path && document.activeElement === document.body)
      document.querySelector('main')?.focus({ preventScroll: true });
    before.current = path;
  }, [path]);
};

export const Shell = () => {
  const { shop } = useSession();
  useFocusOnPage();
  const path = useRouterState({ select: (state) => state.location.pathname });
  return (
    <div className={styles['shell']}>
      <SkipLinks />
      <header className={`${styles['header']} not-printed`}>
        <div className={styles['brand']}>
          <Mark />
          <Title order={1}>Handback</Title>
        </div>
        <HeaderSearch />
        <span className={styles['shop']}>{shop.name}</span>
        <SchemeSwitch />
      </header>
      <Navigation path={path} />
      <main className={styles['main']} tabIndex={-1}>
        <Notices />
        <Suspense fallback={<Loading />}>
          <Outlet />
        </Suspense>
      </main>
      <NotificationArea />
      <ToastDialog />
      <ShortcutHelp />
      <SessionEnd />
    </div>
  );
};

/** `?` shows the keys that work on the page. */
const ShortcutHelp = () => {
  const [open, setOpen] = useState(false);
  useShortcuts([{ key: '?', label: words.showKeys, run: () => setOpen(true) }]);
  return open ? <ShortcutList onClose={() => setOpen(false)} /> : null;
};

const SchemeSwitch = () => {
  const { toggleColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme();
  return (
    <UnstyledButton
      className={`${styles['icon']} ${styles['switch']}`}
      onClick={toggleColorScheme}
      aria-label={words.switchScheme}
    >
      {scheme === 'dark' ? <Sun size={18} /> : <Moon size={18} />}
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
        {words.skipToPage}
      </button>
      {hasRows ? (
        <button type="button" onClick={() => focusOn(document.querySelector<HTMLElement>(FIRST_ROW))}>
          {words.skipToList}
        </button>
      ) : null}
    </div>
  );
};

const noticesFor = ({ shop }: Session, month: Overview['month'] | undefined): [string, string][] => {
  const notices: [string, string][] = [];
  if (shop.subscription === 'inactive') notices.push(['red', words.inactive]);
  if (!PLANS_WITH_API.includes(shop.plan)) notices.push(['yellow', words.planWithoutApi]);
  if (!month || month.limit === null) return notices;
  if (month.used >= month.limit) notices.push(['red', words.limitReached(month.limit)]);
  else if (month.used >= (month.limit * WARN_AT_PERCENT) / 100)
    notices.push(['yellow', words.nearLimit(month.used, month.limit)]);
  return notices;
};

const Notices = () => {
  const session = useSession();
  const { data } = useQuery(overviewQuery);
  const isOnline = useSyncExternalStore(onlineManager.subscribe, () => onlineManager.isOnline());
  const notices = noticesFor(session, data?.month);
  const { passwordExposedAt, role } = session.user;
  if (notices.length === 0 && !passwordExposedAt && isOnline) return null;
  return (
    <Stack gap="xs" mb="md" className="not-printed">
      {isOnline ? null : (
        <NoticeAlert color="orange" role="status">
          {words.offlineNotice}
        </NoticeAlert>
      )}
      {passwordExposedAt ? (
        <NoticeAlert color="red" role="alert" to="/account" action={words.changePassword}>
          {words.passwordExposed} (<RelativeTime at={passwordExposedAt} />)
        </NoticeAlert>
      ) : null}
      {notices.map(([color, text]) =>
        role === 'ADMIN' ? (
          <NoticeAlert key={text} color={color} role="status" to="/settings/plan" action={words.toPlan}>
            {text}
          </NoticeAlert>
        ) : (
          <NoticeAlert key={text} color={color} role="status">
            {text} {words.askAdmin}
          </NoticeAlert>
        ),
      )}
    </Stack>
  );
};

interface NoticeProps {
  color: string;
  role: 'alert' | 'status';
  to?: '/account' | '/settings/plan';
  action?: string;
  children: ReactNode;
}

const NoticeAlert = ({ color, role, to, action, children }: NoticeProps) => (
  <Alert color={color} role={role} py="xs">
    <Group justify="space-between" gap="sm">
      <Text size="sm" inherit>
        {children}
      </Text>
      {to ? (
        <ButtonLink to={to} size="xs" variant="default">
          {action}
        </ButtonLink>
      ) : null}
    </Group>
  </Alert>
);

const WORK = [
  { to: '/', label: words.today, icon: CalendarCheck },
  { to: '/offline-repairs', label: words.repairs, icon: Wrench },
  { to: '/trade-returns', label: words.tradeReturns, icon: Undo2 },
  { to: '/scan-station', label: words.scanStation, icon: ScanLine },
] as const;

interface LinkProps {
  to: (typeof WORK)[number]['to'] | '/settings/shop' | '/account';
  path: string;
  label: string;
  note?: string;
  icon: typeof Wrench;
  isCurrent?: boolean;
}

const MenuLink = ({ to, path, label, note, icon: Icon, isCurrent }: LinkProps) => (
  <Link
    to={to}
    className={styles['link'] ?? ''}
    title={label}
    data-current={(isCurrent ?? (to === '/' ? path === '/' : path.startsWith(to))) || undefined}
  >
    <Icon size={18} />
    <span>{label}</span>
    {note ? <small>{note}</small> : null}
  </Link>
);

/** At the left; on a phone a bar at the bottom, whose last button opens what is not in the bar. */
const Navigation = ({ path }: { path: string }) => {
  /** Where it was opened: another page closes it. */
  const [openedAt, setOpenedAt] = useState<string | null>(null);
  const opened = openedAt === path;
  const { user } = useSession();
  const isInBar = WORK.some(({ to }) => (to === '/' ? path === '/' : path.startsWith(to)));
  return (
    <nav aria-label={words.pages} className={`${styles['nav']} not-printed`}>
      <div className={styles['bar']}>
        {WORK.map((target) => (
          <MenuLink key={target.to} {...target} path={path} />
        ))}
        <UnstyledButton
          className={`${styles['link']} ${styles['more']}`}
          onClick={() => setOpenedAt(opened ? null : path)}
          aria-expanded={opened}
          aria-controls="more-pages"
          data-current={opened || !isInBar || undefined}
        >
          {opened ? <X size={18} /> : <Ellipsis size={18} />}
          <span>{words.more}</span>
        </UnstyledButton>
      </div>
      <div id="more-pages" className={styles['rest']} data-opened={opened || undefined}>
        {user.role === 'ADMIN' ? (
          <MenuLink
            to="/settings/shop"
            path={path}
            label={words.settings}
            icon={Settings}
            isCurrent={path.startsWith('/settings')}
          />
        ) : null}
        <a
          className={styles['link']}
          href={`${PUBLIC_PATH}/docs`}
          title={words.docs}
          target="_blank"
          rel="noreferrer"
        >
          <BookOpen size={18} />
          <span>{words.docs}</span>
        </a>
        <div className={styles['foot']}>
          <MenuLink
            to="/account"
            path={path}
            label={user.name ?? user.email}
            note={words.account}
            icon={CircleUserRound}
          />
          <SignOut />
        </div>
      </div>
    </nav>
  );
};

const SignOut = () => {
  const signOut = useSignOut();
  return (
    <UnstyledButton
      className={styles['link'] ?? ''}
      title={words.signOut}
      onClick={() => signOut.mutate()}
      disabled={signOut.isPending}
    >
      <LogOut size={18} />
      <span>{words.signOut}</span>
    </UnstyledButton>
  );
};
