import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { listSearch } from './list-search.ts';
import { sessionQuery } from './session/session.ts';
import { NoSuchPage, StartFailed } from './ui/error-pages.tsx';
import { Loading } from './ui/loading.tsx';
import { PageError } from './ui/page-error.tsx';

// Every page and its address. Pages load when they are opened.

const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Outlet,
  errorComponent: StartFailed,
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>): { to?: string } =>
    typeof search['to'] === 'string' ? { to: search['to'] } : {},
  component: lazyRouteComponent(() => import('./session/sign-in-page.tsx'), 'SignInPage'),
});

const setUp = createRoute({
  getParentRoute: () => root,
  path: '/set-up',
  validateSearch: (search: Record<string, unknown>): { token?: string } =>
    typeof search['token'] === 'string' ? { token: search['token'] } : {},
  component: lazyRouteComponent(() => import('./session/set-up-page.tsx'), 'SetUpPage'),
});

/** Everything behind the sign-in. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery);
    if (!session) throw redirect({ to: '/sign-in', search: { to: location.href } });
  },
  component: lazyRouteComponent(() => import('./shell/shell.tsx'), 'Shell'),
  errorComponent: StartFailed,
});

const overview = createRoute({
  getParentRoute: () => inside,
  path: '/',
  component: lazyRouteComponent(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
});

const repairs = createRoute({
  getParentRoute: () => inside,
  path: '/offline-repairs',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./returns/list/repairs-page.tsx'), 'RepairsPage'),
});
const newRepair = createRoute({
  getParentRoute: () => inside,
  path: '/offline-repairs/new',
  component: lazyRouteComponent(() => import('./returns/new/new-repair-page.tsx'), 'NewRepairPage'),
});
const repair = createRoute({
  getParentRoute: () => inside,
  path: '/offline-repairs/$id',
  component: lazyRouteComponent(() => import('./returns/detail/repair-page.tsx'), 'RepairPage'),
});

const tradeReturns = createRoute({
  getParentRoute: () => inside,
  path: '/trade-returns',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./returns/list/trade-returns-page.tsx'), 'TradeReturnsPage'),
});
const newTradeReturn = createRoute({
  getParentRoute: () => inside,
  path: '/trade-returns/new',
  component: lazyRouteComponent(
    () => import('./returns/new/new-trade-return-page.tsx'),
    'NewTradeReturnPage',
  ),
});
const tradeReturn = createRoute({
  getParentRoute: () => inside,
  path: '/trade-returns/$id',
  component: lazyRouteComponent(() => import('./returns/detail/trade-return-page.tsx'), 'TradeReturnPage'),
});

const account = createRoute({
  getParentRoute: () => inside,
  path: '/account',
  component: lazyRouteComponent(() => import('./session/account-page.tsx'), 'AccountPage'),
});

/** For Admins only. The API checks that too; this spares people an error page. */
const settings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  beforeLoad: async ({ context }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery);
    if (session?.user.role !== 'ADMIN') throw redirect({ to: '/' });
  },
});
const clients = createRoute({
  getParentRoute: () => settings,
  path: '/external-api',
  component: lazyRouteComponent(() => import('./clients/clients-page.tsx'), 'ClientsPage'),
});
const deliveries = createRoute({
  getParentRoute: () => settings,
  path: '/external-api/$id',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./clients/deliveries-page.tsx'), 'DeliveriesPage'),
});
const team = createRoute({
  getParentRoute: () => settings,
  path: '/team',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./team/team-page.tsx'), 'TeamPage'),
});
const dangerousGoods = createRoute({
  getParentRoute: () => settings,
  path: '/dangerous-goods',
  component: lazyRouteComponent(() => import('./settings/dangerous-goods-page.tsx'), 'DangerousGoodsPage'),
});
const targets = createRoute({
  getParentRoute: () => settings,
  path: '/targets',
  component: lazyRouteComponent(() => import('./settings/targets-page.tsx'), 'TargetsPage'),
});
const plan = createRoute({
  getParentRoute: () => settings,
  path: '/plan',
  component: lazyRouteComponent(() => import('./settings/plan-page.tsx'), 'PlanPage'),
});
const auditLog = createRoute({
  getParentRoute: () => settings,
  path: '/audit-log',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./settings/audit-log-page.tsx'), 'AuditLogPage'),
});

const routeTree = root.addChildren([
  signIn,
  setUp,
  inside.addChildren([
    overview,
    repairs,
    newRepair,
    repair,
    tradeReturns,
    newTradeReturn,
    tradeReturn,
    account,
    settings.addChildren([clients, deliveries, team, dangerousGoods, targets, plan, auditLog]),
  ]),
]);

export const createAppRouter = (queryClient: QueryClient) =>
  createRouter({
    routeTree,
    basepath: '/admin',
    context: { queryClient },
    defaultPreload: 'intent',
    defaultPendingComponent: Loading,
    defaultErrorComponent: PageError,
    defaultNotFoundComponent: NoSuchPage,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
