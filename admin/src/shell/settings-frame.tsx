import { NativeSelect, Stack, Text } from '@mantine/core';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { Clock, Gauge, IdCard, KeyRound, ScrollText, Store, TriangleAlert, Users } from 'lucide-react';
import { Suspense } from 'react';
import { useSession } from '../session/session.ts';
import { texts } from '../texts.ts';
import { ButtonLink } from '../ui/links.tsx';
import { Loading, PageTitle } from '../ui/page-frame.tsx';
import styles from './settings-frame.module.css';

const words = texts.shell;

const PAGES = [
  { to: '/settings/shop', label: words.shop, icon: Store },
  { to: '/settings/team', label: words.team, icon: Users },
  { to: '/settings/targets', label: words.targets, icon: Clock },
  { to: '/settings/dangerous-goods', label: words.dangerousGoods, icon: TriangleAlert },
  { to: '/settings/external-api', label: words.externalApi, icon: KeyRound },
  { to: '/settings/plan', label: words.plan, icon: Gauge },
  { to: '/settings/personal-data', label: words.personalData, icon: IdCard },
  { to: '/settings/audit-log', label: words.auditLog, icon: ScrollText },
] as const;

/** The pages of the settings with their list beside them. The API checks the role too; this says why Staff see nothing. */
export const SettingsFrame = () => {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const current = PAGES.find(({ to }) => path.startsWith(to))?.to;
  const navigate = useNavigate();
  if (useSession().user.role !== 'ADMIN')
    return (
      <Stack align="flex-start" gap="xs">
        <PageTitle>{words.adminsOnly}</PageTitle>
        <Text c="dimmed">{words.askAdminToChange}</Text>
        <ButtonLink to="/" mt="xs">
          {words.goToToday}
        </ButtonLink>
      </Stack>
    );
  return (
    <div className={styles['frame']}>
      <nav aria-label={words.settings} className={`${styles['list']} not-printed`}>
        {PAGES.map(({ to, label, icon: Icon }) => (
          <Link key={to} to={to} className={styles['link'] ?? ''} data-current={to === current || undefined}>
            <Icon />
            {label}
          </Link>
        ))}
      </nav>
      <NativeSelect
        className={`${styles['choice']} not-printed`}
        aria-label={words.settings}
        data={PAGES.map(({ to, label }) => ({ value: to, label }))}
        value={current ?? PAGES[0].to}
        onChange={({ currentTarget }) => void navigate({ to: currentTarget.value })}
      />
      <div className={styles['page']}>
        <Suspense fallback={<Loading />}>
          <Outlet />
        </Suspense>
      </div>
    </div>
  );
};
