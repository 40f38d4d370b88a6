import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { APP_PATH } from './api.ts';
import { listSearch } from './list-search.ts';
import { ProofRequired } from './session/interruptions.tsx';
import {
  addressOf,
  arrivalSearch,
  isSignInRemembered,
  lacksFactor,
  sessionQuery,
  wantedPage,
} from './session/session.ts';
import { NoSuchPage, PageError, StartFailed } from './ui/error-pages.tsx';
import { lazyPage } from './ui/lazy.tsx';
import { Loading } from './ui/page-frame.tsx';

// Every page and its address. Pages load when they are opened.

const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: () => (
    <>
      <ProofRequired />
      <Outlet />
    </>
  ),
  errorComponent: StartFailed,
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: arrivalSearch,
  beforeLoad: async ({ context, search: { to, provider, window } }) => {
    // Who comes back from the provider goes on by the page itself.
    if (!isSignInRemembered() || provider || window) return;
    // Where the service cannot be reached the page is there to try again.
    const session = await context.queryClient.ensureQueryData(sessionQuery).catch(() => null);
    if (session) throw redirect({ href: addressOf(to), replace: true });
  },
  component: lazyPage(() => import('./session/sign-in-page.tsx'), 'SignInPage'),
});

const setUp = createRoute({
  getParentRoute: () => root,
  path: '/set-up',
  component: lazyPage(() => import('./session/set-up-page.tsx'), 'SetUpPage'),
});

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: lazyPage(() => import('./session/link-page.tsx'), 'ForgotPasswordPage'),
});

const link = createRoute({
  getParentRoute: () => root,
  path: '/link',
  component: lazyPage(() => import('./session/link-page.tsx'), 'LinkPage'),
});

const secondFactor = createRoute({
  getParentRoute: () => root,
  path: '/second-factor',
  validateSearch: wantedPage,
  beforeLoad: async ({ context }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery);
    if (!session) throw redirect({ to: '/sign-in' });
    if (!lacksFactor(session)) throw redirect({ to: '/account' });
  },
  component: lazyPage(() => import('./session/second-factor/set-up-factor.tsx'), 'FactorPage'),
});

const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery);
    if (!session) throw redirect({ to: '/sign-in', search: { to: location.href } });
    if (lacksFactor(session)) throw redirect({ to: '/second-factor', search: { to: location.href } });
  },
  component: lazyPage(() => import('./shell/shell.tsx'), 'Shell'),
  errorComponent: StartFailed,
});

const today = createRoute({
  getParentRoute: () => inside,
  path: '/',
  validateSearch: ({ tab }: Record<string, unknown>): { tab?: 'figures' } =>
    tab === 'figures' ? { tab } : {},
  component: lazyPage(() => import('./today/today-page.tsx'), 'TodayPage'),
});

const repairs = createRoute({
  getParentRoute: () => inside,
  path: '/offline-repairs',
  validateSearch: listSearch,
  component: lazyPage(() => import('./returns/list/repairs-page.tsx'), 'RepairsPage'),
});
const newRepair = createRoute({
  getParentRoute: () => inside,
  path: '/offline-repairs/new',
  component: lazyPage(() => import('./returns/new/new-repair-page.tsx'), 'NewRepairPage'),
});
const repair = createRoute({
  getParentRoute: () => inside,
  path: '/offline-repairs/$id',
  component: lazyPage(() => import('./returns/detail/repair-page.tsx'), 'RepairPage'),
});

const tradeReturns = createRoute({
  getParentRoute: () => inside,
  path: '/trade-returns',
  validateSearch: listSearch,
  component: lazyPage(() => import('./returns/list/trade-returns-page.tsx'), 'TradeReturnsPage'),
});
const newTradeReturn = createRoute({
  getParentRoute: () => inside,
  path: '/trade-returns/new',
  component: lazyPage(() => import('./returns/new/new-trade-return-page.tsx'), 'NewTradeReturnPage'),
});
const tradeReturn = createRoute({
  getParentRoute: () => inside,
  path: '/trade-returns/$id',
  component: lazyPage(() => import('./returns/detail/trade-return-page.tsx'), 'TradeReturnPage'),
});
const receive = createRoute({
  getParentRoute: () => inside,
  path: '/trade-returns/$id/receive',
  component: lazyPage(() => import('./returns/receive/receive-page.tsx'), 'ReceivePage'),
});

const printSearch = ({ kind, ids }: Record<string, unknown>): { kind: string; ids: string } => ({
  kind: typeof kind === 'string' ? kind : '',
  ids: typeof ids === 'string' ? ids : '',
});
const print = createRoute({
  getParentRoute: () => inside,
  path: '/print',
  validateSearch: printSearch,
  component: lazyPage(() => import('./returns/print/print-page.tsx'), 'PrintPage'),
});

const scanStation = createRoute({
  getParentRoute: () => inside,
  path: '/scan-station',
  component: lazyPage(() => import('./scan-station/scan-station-page.tsx'), 'ScanStationPage'),
});
/** Its address before it had its name. */
const bench = createRoute({
  getParentRoute: () => inside,
  path: '/bench',
  beforeLoad: () => {
    throw redirect({ to: '/scan-station', replace: true });
  },
});

const account = createRoute({
  getParentRoute: () => inside,
  path: '/account',
  component: lazyPage(() => import('./session/account-page.tsx'), 'AccountPage'),
});

const settings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  component: lazyPage(() => import('./shell/settings-frame.tsx'), 'SettingsFrame'),
});
const settingsStart = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/shop' });
  },
});
const shop = createRoute({
  getParentRoute: () => settings,
  path: '/shop',
  component: lazyPage(() => import('./settings/shop-page.tsx'), 'ShopPage'),
});
const clients = createRoute({
  getParentRoute: () => settings,
  path: '/external-api',
  component: lazyPage(() => import('./clients/clients-page.tsx'), 'ClientsPage'),
});
const deliveries = createRoute({
  getParentRoute: () => settings,
  path: '/external-api/$id',
  validateSearch: listSearch,
  component: lazyPage(() => import('./clients/deliveries-page.tsx'), 'DeliveriesPage'),
});
const team = createRoute({
  getParentRoute: () => settings,
  path: '/team',
  component: lazyPage(() => import('./team/team-page.tsx'), 'TeamPage'),
});
const dangerousGoods = createRoute({
  getParentRoute: () => settings,
  path: '/dangerous-goods',
  component: lazyPage(() => import('./settings/dangerous-goods-page.tsx'), 'DangerousGoodsPage'),
});
const targets = createRoute({
  getParentRoute: () => settings,
  path: '/targets',
  component: lazyPage(() => import('./settings/targets-page.tsx'), 'TargetsPage'),
});
const plan = createRoute({
  getParentRoute: () => settings,
  path: '/plan',
  component: lazyPage(() => import('./settings/plan-page.tsx'), 'PlanPage'),
});
const personalData = createRoute({
  getParentRoute: () => settings,
  path: '/personal-data',
  component: lazyPage(() => import('./personal-data/personal-data-page.tsx'), 'PersonalDataPage'),
});
const auditLog = createRoute({
  getParentRoute: () => settings,
  path: '/audit-log',
  validateSearch: listSearch,
  component: lazyPage(() => import('./settings/audit-log-page.tsx'), 'AuditLogPage'),
});

/** Every other address, so that the menu stays in sight. */
const nowhere = createRoute({ getParentRoute: () => inside, path: '/$', component: NoSuchPage });

const routeTree = root.addChildren([
  signIn,
  setUp,
  forgotPassword,
  link,
  secondFactor,
  inside.addChildren([
    today,
    repairs,
    newRepair,
    repair,
    tradeReturns,
    newTradeReturn,
    tradeReturn,
    receive,
    print,
    scanStation,
    bench,
    account,
    settings.addChildren([
      settingsStart,
      shop,
      clients,
      deliveries,
      team,
      dangerousGoods,
      targets,
      plan,
      personalData,
      auditLog,
    ]),
    nowhere,
  ]),
]);

export const createAppRouter = (queryClient: QueryClient) =>
  createRouter({
    routeTree,
    basepath: APP_PATH,
    context: { queryClient },
    defaultPreload: 'intent',
    defaultPendingComponent: Loading,
    defaultErrorComponent: PageError,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
