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
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import {
  Clock,
  Gauge,
  IdCard,
  KeyRound,
  LayoutDashboard,
  LogOut,
  Menu,
  Moon,
  ScanLine,
  ScrollText,
  Store,
  Sun,
  TriangleAlert,
  Undo2,
  UserRound,
  Users,
  Wrench,
  X,
} from 'lucide-react';
import { type ReactNode, Suspense, useState } from 'react';
import type { Overview } from '../../../contract/admin.ts';
import { PLANS_WITH_API } from '../../../contract/admin-plans.ts';
import { HeaderSearch } from '../search/header-search.tsx';
import { SessionEnd } from '../session/interruptions.tsx';
import { type Session, useSession, useSignOut } from '../session/session.ts';
import { overviewQuery, WARN_AT_PERCENT } from '../shop-queries.ts';
import { lazyOptional, whenIdle } from '../ui/lazy.tsx';
import { ButtonLink } from '../ui/links.tsx';
import { Mark } from '../ui/mark.tsx';
import { Loading } from '../ui/page-frame.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { useShortcuts } from '../ui/shortcuts.ts';
import styles from './shell.module.css';

const NotificationArea = lazyOptional(async () => {
  await whenIdle();
  return (await import('../ui/notification-area.tsx')).NotificationArea;
});

const ShortcutList = lazyOptional(async () => (await import('../ui/shortcut-list.tsx')).ShortcutList);

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

const noticesFor = ({ shop }: Session, month: Overview['month'] | undefined): [string, string][] => {
  const notices: [string, string][] = [];
  if (shop.subscription === 'inactive')
    notices.push(['red', 'The subscription is inactive: returns can be read, but not made or moved.']);
  if (!PLANS_WITH_API.includes(shop.plan))
    notices.push([
      'yellow',
      'Your plan does not include the External API: keys are refused and no webhooks are sent. It comes with Scale and Enterprise.',
    ]);
  if (!month || month.limit === null) return notices;
  const [used, limit] = [month.used.toLocaleString(), month.limit.toLocaleString()];
  if (month.used >= month.limit)
    notices.push([
      'red',
      `All ${limit} returns of this month are used: no more can be made until next month.`,
    ]);
  else if (month.used >= (month.limit * WARN_AT_PERCENT) / 100)
    notices.push(['yellow', `${used} of this month's ${limit} returns are used.`]);
  return notices;
};

const Notices = () => {
  const session = useSession();
  const { data } = useQuery(overviewQuery);
  const notices = noticesFor(session, data?.month);
  const { passwordExposedAt, role } = session.user;
  if (notices.length === 0 && !passwordExposedAt) return null;
  return (
    <Stack gap="xs" mb="md" className="not-printed">
      {passwordExposedAt ? (
        <NoticeAlert color="red" role="alert" to="/account" action="Change your password">
          Someone entered your password and then ten wrong codes (<RelativeTime at={passwordExposedAt} />
          ). They did not get in. If it was not you, change your password.
        </NoticeAlert>
      ) : null}
      {notices.map(([color, text]) =>
        role === 'ADMIN' ? (
          <NoticeAlert key={text} color={color} role="status" to="/settings/plan" action="To Plan and usage">
            {text}
          </NoticeAlert>
        ) : (
          <NoticeAlert key={text} color={color} role="status">
            {text} Ask an Admin of your shop.
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
  { to: '/', label: 'Overview', icon: LayoutDashboard },
  { to: '/offline-repairs', label: 'Offline repairs', icon: Wrench },
  { to: '/trade-returns', label: 'Trade returns', icon: Undo2 },
  { to: '/bench', label: 'Bench', icon: ScanLine },
] as const;
const SETTINGS = [
  { to: '/settings/shop', label: 'Shop', icon: Store },
  { to: '/settings/external-api', label: 'External API', icon: KeyRound },
  { to: '/settings/team', label: 'Team', icon: Users },
  { to: '/settings/dangerous-goods', label: 'Dangerous goods', icon: TriangleAlert },
  { to: '/settings/targets', label: 'Targets', icon: Clock },
  { to: '/settings/plan', label: 'Plan and usage', icon: Gauge },
  { to: '/settings/personal-data', label: 'Personal data', icon: IdCard },
  { to: '/settings/audit-log', label: 'Audit log', icon: ScrollText },
] as const;
const ACCOUNT = [{ to: '/account', label: 'Account and password', icon: UserRound }] as const;

type Target = (typeof WORK | typeof SETTINGS | typeof ACCOUNT)[number];

const Navigation = ({ path, onNavigate }: { path: string; onNavigate(): void }) => {
  const { user } = useSession();
  const links = (targets: readonly Target[]) =>
    targets.map(({ to, label, icon: Icon }) => (
      <Link
        key={to}
        to={to}
        className={styles['link'] ?? ''}
        title={label}
        data-current={(to === '/' ? path === '/' : path.startsWith(to)) || undefined}
        onClick={onNavigate}
      >
        <Icon size={18} aria-hidden />
        <span>{label}</span>
      </Link>
    ));
  return (
    <>
      {links(WORK)}
      {user.role === 'ADMIN' ? (
        <>
          <p className={styles['label']}>Settings</p>
          {links(SETTINGS)}
        </>
      ) : null}
      <p className={`${styles['label']} ${styles['person']}`}>{user.name ?? user.email}</p>
      {links(ACCOUNT)}
      <SignOut />
    </>
  );
};

const SignOut = () => {
  const signOut = useSignOut();
  return (
    <UnstyledButton
      className={styles['link'] ?? ''}
      title="Sign out"
      onClick={() => signOut.mutate()}
      disabled={signOut.isPending}
    >
      <LogOut size={18} aria-hidden />
      <span>Sign out</span>
    </UnstyledButton>
  );
};
