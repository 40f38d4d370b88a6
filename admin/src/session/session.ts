import { queryOptions, useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { z } from 'zod';
import type { OwnSessions, SignInOptions } from '../../../contract/admin-access.ts';
import type { SignedIn, UserRole } from '../../../contract/admin-people.ts';
import { APP_PATH, ApiError, api } from '../api.ts';
import { getQuery } from '../shop-queries.ts';
import { texts } from '../texts.ts';
import { clearToasts, notifyFailed } from '../ui/notify.ts';
import { readBrowser, removeFromTab, writeBrowser } from '../ui/tab-storage.ts';

export type Session = z.infer<typeof SignedIn>;

/** Scripts cannot see the cookie. Without this note there is no session, and no need to ask the service for one. */
const SIGNED_IN_NOTE = 'handback.signed-in';
/** Where nothing may be stored. Before the first response there may be a session. */
let signedInHere = true;
const rememberSignIn = (signedIn: boolean): void => {
  signedInHere = signedIn;
  writeBrowser(SIGNED_IN_NOTE, signedIn ? 'yes' : null);
};

export const isSignInRemembered = (): boolean => {
  const note = readBrowser(SIGNED_IN_NOTE);
  return note === undefined ? signedInHere : note !== null;
};

const forgetStored = (prefix: string): void => removeFromTab((name) => name.startsWith(prefix));

/** Others may use this computer, so nothing of the person stays behind. */
const forgetSession = (): void => {
  rememberSignIn(false);
  forgetStored('handback.');
};

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ client, queryKey }): Promise<Session | null> => {
    // Once there was one, the pages keep it until another person signs in or out.
    const known = client.getQueryData<Session>(queryKey);
    if (!isSignInRemembered()) return known ?? null;
    try {
      return await api.get<Session>('/session');
    } catch (error) {
      if (known || !(error instanceof ApiError) || error.status !== 401) throw error;
      rememberSignIn(false);
      // The session ended by itself. Drafts wait for their person; searches have no owner, and the next person must not see them.
      for (const prefix of ['handback.search.', 'handback.walk.']) forgetStored(prefix);
      return null;
    }
  },
  staleTime: 60_000,
});

export const lacksFactor = ({ user, shop }: Session): boolean =>
  shop.secondFactorRequired && !user.secondFactor && !user.throughProvider;

/** For pages behind the sign-in, where there always is a session. */
export const useSession = (): Session => {
  const { data } = useSuspenseQuery(sessionQuery);
  if (!data) throw new Error('signed out');
  return data;
};

export const ROLE_LABELS: Record<UserRole, { name: string; description: string }> = texts.common.roles;
export const roleName = (role: string): string => ROLE_LABELS[role as UserRole]?.name ?? role;

/** Of the address of a page that stands before others: where to go from it. */
export const wantedPage = (search: Record<string, unknown>): { to?: string } =>
  typeof search['to'] === 'string' ? { to: search['to'] } : {};

/** What the service adds to the address of the sign-in page when a person comes back from the identity provider. */
export interface ProviderSearch {
  provider?: string;
  window?: 'new';
}

export const arrivalSearch = (search: Record<string, unknown>): ProviderSearch & { to?: string } => ({
  ...wantedPage(search),
  ...(typeof search['provider'] === 'string' ? { provider: search['provider'] } : {}),
  ...(search['window'] === 'new' ? { window: 'new' } : {}),
});

/** Only an address of this app: a forged link must not lead elsewhere after the sign-in, nor to another app on the same host. */
export const addressOf = (to = '/'): string => {
  const { origin } = window.location;
  const url = URL.parse(`${origin}${APP_PATH}${to}`);
  const isOwn = url?.origin === origin && to.startsWith('/') && url.pathname.startsWith(`${APP_PATH}/`);
  return isOwn && !to.startsWith('//') ? `${url.pathname}${url.search}${url.hash}` : `${APP_PATH}/`;
};

export const ownSessionsQuery = queryOptions({
  queryKey: ['own-sessions'],
  queryFn: () => api.get<OwnSessions>('/session/sessions'),
});

/** Whether a forgotten password can be helped with a mail. */
export const signInOptionsQuery = getQuery<SignInOptions>('sign-in-options', {
  staleTime: Number.POSITIVE_INFINITY,
});

export const useSignedIn = () => {
  const queryClient = useQueryClient();
  return (session: Session): void => {
    const before = queryClient.getQueryData(sessionQuery.queryKey);
    // Work of the last person may have ended after they left.
    if (before?.user.id !== session.user.id) void clearToasts();
    rememberSignIn(true);
    queryClient.setQueryData(sessionQuery.queryKey, session);
  };
};

/** Forgets everything of the person and leads to the sign-in page; the queries last, since the page would ask for its data again. */
export const useLeave = (): (() => Promise<void>) => {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return useCallback(async () => {
    forgetSession();
    await navigate({ to: '/sign-in' });
    queryClient.clear();
    await clearToasts();
  }, [navigate, queryClient]);
};

export const useSignOut = () =>
  useMutation({
    mutationFn: () => api.delete('/session'),
    onSuccess: useLeave(),
    onError: (error) => notifyFailed(texts.common.stillSignedIn, error),
  });
