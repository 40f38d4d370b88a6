import { UnstyledButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import {
  Clock,
  Gauge,
  KeyRound,
  LayoutDashboard,
  LogOut,
  ScanLine,
  ScrollText,
  Store,
  TriangleAlert,
  Undo2,
  UserRound,
  Users,
  Wrench,
} from 'lucide-react';
import { useSession, useSignOut } from '../session/session.ts';
import styles from './shell.module.css';

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
  { to: '/settings/audit-log', label: 'Audit log', icon: ScrollText },
] as const;
const ACCOUNT = [{ to: '/account', label: 'Account and password', icon: UserRound }] as const;

type Target = (typeof WORK | typeof SETTINGS | typeof ACCOUNT)[number];

export const Navigation = ({ path, onNavigate }: { path: string; onNavigate(): void }) => {
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
