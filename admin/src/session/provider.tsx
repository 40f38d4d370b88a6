import { Alert, Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';
import type { ProviderRefusalCode } from '../../../contract/admin-access.ts';
import { api } from '../api.ts';
import { texts } from '../texts.ts';
import { FormFailure } from '../ui/query-view.tsx';
import { addressOf, type ProviderSearch, type Session, signInOptionsQuery, useSignedIn } from './session.ts';
import { SignedOutFrame } from './signed-out-frame.tsx';

// There and back: signing in, and confirming one's identity, at the identity provider (contract §21).

const t = texts.session;
const CHANNEL = 'handback.provider';

type VisitPath = '/session/oidc' | '/session/oidc/proof';

const addressFor = async (path: VisitPath, body: object): Promise<string> =>
  (await api.post<{ url: string }>(path, body)).url;

/** In a window of its own: what is typed on this page stays. `useProviderDone` says when the person is back. */
export const visitInNewWindow = async (path: VisitPath): Promise<void> => {
  // At once: later the browser would not see the click that it is for.
  const opened = window.open('', '_blank', 'popup,width=560,height=760');
  if (!opened) throw new Error(t.windowBlocked);
  try {
    opened.location.href = await addressFor(path, { newWindow: true });
  } catch (error) {
    opened.close();
    throw error;
  }
};

/** The provider's pages cut the tie between the two windows, so that one cannot call the other. */
export const useProviderDone = (onDone: () => void): void => {
  const onMessage = useEffectEvent(onDone);
  useEffect(() => {
    const channel = new BroadcastChannel(CHANNEL);
    channel.onmessage = () => onMessage();
    return () => channel.close();
  }, []);
};

export const useProviderName = (): string => useQuery(signInOptionsQuery).data?.provider ?? t.provider;

export const ProviderButton = ({
  to,
  newWindow = false,
}: {
  to?: string | undefined;
  newWindow?: boolean;
}) => {
  const name = useProviderName();
  const visit = useMutation({
    mutationFn: async () =>
      newWindow
        ? visitInNewWindow('/session/oidc')
        : window.location.assign(await addressFor('/session/oidc', { to })),
  });
  return (
    <>
      <FormFailure failure={visit.error} />
      <Button variant="default" loading={visit.isPending} onClick={() => visit.mutate()}>
        {t.signInWith(name)}
      </Button>
    </>
  );
};

/** Why the last visit came to nothing, in a sentence. */
export const ProviderRefused = ({ outcome }: { outcome: string | undefined }) => {
  const name = useProviderName();
  return outcome !== undefined && isRefusal(outcome) ? (
    <Alert color="red" role="alert">
      {REFUSALS[outcome](name)}
    </Alert>
  ) : null;
};

/** The schemas of the contract are too large for the first page. */
const REFUSALS: Record<ProviderRefusalCode, (name: string) => string> = t.providerRefusals;

const isRefusal = (outcome: string): outcome is ProviderRefusalCode => Object.hasOwn(REFUSALS, outcome);

/** Where a person arrives from the provider: they go on by themselves, or close the window. */
export const BackFromProvider = ({ provider, window: kind, to }: ProviderSearch & { to?: string }) => {
  const router = useRouter();
  const signedIn = useSignedIn();
  const session = useQuery({
    queryKey: ['back-from-provider'],
    queryFn: () => api.get<Session>('/session'),
    enabled: provider === 'signed-in',
    gcTime: 0,
  });
  const isDone = provider === 'proved' || session.data !== undefined;
  const goOn = useEffectEvent(() => {
    if (session.data) signedIn(session.data);
    if (kind !== 'new') return router.history.replace(addressOf(to));
    const channel = new BroadcastChannel(CHANNEL);
    channel.postMessage('done');
    channel.close();
    window.close();
  });
  useEffect(() => {
    if (isDone) goOn();
  }, [isDone]);
  const title = kind === 'new' && isDone ? t.confirmed : t.signInTitle;
  return (
    <SignedOutFrame tab={t.signIn} title={title} {...(kind === 'new' ? { intro: t.closeWindow } : {})}>
      <ProviderRefused outcome={provider} />
      <FormFailure failure={session.error} />
    </SignedOutFrame>
  );
};
