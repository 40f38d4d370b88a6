import './schemas-without-eval.ts';
import './mantine.css';
import './app.css';
import { MantineProvider } from '@mantine/core';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { LucideProvider } from 'lucide-react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api.ts';
import { createAppRouter } from './router.tsx';
import { sessionQuery } from './session/session.ts';
import { listenForEnter, returnFocus } from './ui/focus.ts';
import { PageMissing } from './ui/lazy.tsx';
import { cssVariables, theme } from './ui/theme.ts';

/** The shop began to require a second factor while this page was open: what it asks for now comes first. */
const leadToFactor = (error: Error): void => {
  const { pathname, href } = router.latestLocation;
  if (!(error instanceof ApiError) || error.body?.code !== 'SET_UP_SECOND_FACTOR') return;
  if (pathname === '/second-factor') return;
  void queryClient
    .refetchQueries(sessionQuery)
    .then(() => router.navigate({ to: '/second-factor', search: { to: href } }));
};

const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: leadToFactor }),
  mutationCache: new MutationCache({ onError: leadToFactor }),
  defaultOptions: {
    queries: {
      // Most error responses would be the same again.
      retry: (count, error) => count < 2 && error instanceof ApiError && error.isWorthRetry,
      staleTime: 5_000,
      refetchOnWindowFocus: true,
      refetchOnReconnect: true,
      networkMode: 'always',
    },
    // Without a connection a change fails at once and says so, rather than waiting unseen.
    mutations: { networkMode: 'always' },
  },
});
const router = createAppRouter(queryClient);
listenForEnter();
returnFocus();

const root = document.getElementById('root');
if (!root) throw new Error('no root element');
createRoot(root, {
  onCaughtError: (error) => {
    // The page shows these itself.
    if (error instanceof ApiError || error instanceof PageMissing) return;
    // biome-ignore lint/suspicious/noConsole: a bug of ours, for people who open the console
    console.error(error);
  },
}).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      deduplicateCssVariables={false}
      defaultColorScheme="auto"
    >
      <QueryClientProvider client={queryClient}>
        {/* Icons are as high as the text of a button, unless they say otherwise. */}
        <LucideProvider size={16}>
          <RouterProvider router={router} />
        </LucideProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
