import {
  ActionIcon,
  AppShell,
  Burger,
  Group,
  Menu,
  NavLink,
  Text,
  Title,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import {
  Gauge,
  KeyRound,
  LayoutDashboard,
  LogOut,
  Moon,
  ScrollText,
  Sun,
  TriangleAlert,
  Undo2,
  UserRound,
  Users,
  Wrench,
} from 'lucide-react';
import { Suspense } from 'react';
import { api } from '../api.ts';
import { rememberSignIn, useSession } from '../session.ts';
import { Loading } from './loading.tsx';
import { Notices } from './notices.tsx';

const PAGES = [
  { to: '/', label: 'Overview', icon: LayoutDashboard, adminOnly: false },
  { to: '/offline-repairs', label: 'Offline repairs', icon: Wrench, adminOnly: false },
  { to: '/trade-returns', label: 'Trade returns', icon: Undo2, adminOnly: false },
  { to: '/settings/external-api', label: 'External API', icon: KeyRound, adminOnly: true },
  { to: '/settings/team', label: 'Team', icon: Users, adminOnly: true },
  { to: '/settings/dangerous-goods', label: 'Dangerous goods', icon: TriangleAlert, adminOnly: true },
  { to: '/settings/plan', label: 'Plan and usage', icon: Gauge, adminOnly: true },
  { to: '/settings/audit-log', label: 'Audit log', icon: ScrollText, adminOnly: true },
] as const;

/** What is around every page: who is signed in, where one can go. */
export const Shell = () => {
  const [opened, { toggle, close }] = useDisclosure();
  const { user, shop } = useSession();
  const path = useRouterState({ select: (state) => state.location.pathname });
  return (
    <AppShell
      padding="md"
      header={{ height: 56 }}
      navbar={{ width: 230, breakpoint: 'sm', collapsed: { mobile: !opened } }}
    >
      <AppShell.Header className="not-printed">
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
            <Title order={1} size="h4">
              Handback
            </Title>
            <Text c="dimmed" truncate visibleFrom="xs">
              {shop.name}
            </Text>
          </Group>
          <Group wrap="nowrap" gap="xs">
            <SchemeSwitch />
            <Account email={user.email} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" className="not-printed" component="nav" aria-label="Pages">
        {PAGES.filter(({ adminOnly }) => !adminOnly || user.role === 'ADMIN').map(
          ({ to, label, icon: Icon }) => (
            <NavLink
              key={to}
              component={Link}
              to={to}
              label={label}
              leftSection={<Icon size={18} aria-hidden />}
              active={to === '/' ? path === '/' : path.startsWith(to)}
              onClick={close}
            />
          ),
        )}
      </AppShell.Navbar>
      <AppShell.Main>
        <Notices />
        <Suspense fallback={<Loading />}>
          <Outlet />
        </Suspense>
      </AppShell.Main>
    </AppShell>
  );
};

const SchemeSwitch = () => {
  const { toggleColorScheme, colorScheme } = useMantineColorScheme();
  return (
    <ActionIcon
      variant="default"
      size="lg"
      onClick={toggleColorScheme}
      aria-label="Switch between light and dark"
    >
      {colorScheme === 'dark' ? <Sun size={18} aria-hidden /> : <Moon size={18} aria-hidden />}
    </ActionIcon>
  );
};

const Account = ({ email }: { email: string }) => {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const signOut = async () => {
    await api.delete('/session');
    rememberSignIn(false);
    queryClient.clear();
    await navigate({ to: '/sign-in' });
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label={`Account of ${email}`}>
          <UserRound size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{email}</Menu.Label>
        <Menu.Item leftSection={<UserRound size={16} aria-hidden />} component={Link} to="/account">
          Account and password
        </Menu.Item>
        <Menu.Item leftSection={<LogOut size={16} aria-hidden />} onClick={signOut}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};
