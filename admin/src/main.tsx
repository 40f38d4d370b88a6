import './schemas-without-eval.ts';
import './mantine.css';
import './app.css';
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api.ts';
import { createAppRouter } from './router.tsx';
import { isMissingChunk } from './ui/missing-chunks.ts';
import { cssVariables, theme } from './ui/theme.ts';

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A refusal stays a refusal; only a lost connection is worth another try.
      retry: (count, error) => count < 2 && error instanceof ApiError && error.status === 0,
      staleTime: 5_000,
      refetchOnWindowFocus: true,
      refetchOnReconnect: true,
      networkMode: 'always',
    },
    // Where the connection is gone, people are told so at once; nothing waits unseen.
    mutations: { networkMode: 'always' },
  },
});
const router = createAppRouter(queryClient);

const root = document.getElementById('root');
if (!root) throw new Error('no root element');
createRoot(root, {
  onCaughtError: (error) => {
    // What is told on the page: a refusal, a service that cannot be reached.
    if (error instanceof ApiError || isMissingChunk(error)) return;
    // biome-ignore lint/suspicious/noConsole: a fault of our own, for whoever looks for it
    console.error(error);
  },
}).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
