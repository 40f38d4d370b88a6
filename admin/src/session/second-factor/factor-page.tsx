import { Anchor } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate, useRouter } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { addressOf, forgetSession, useSession } from '../session.ts';
import { SignedOutFrame } from '../signed-out-frame.tsx';
import { SetUpFactor } from './set-up-factor.tsx';

const route = getRouteApi('/second-factor');

/** Where people land whose shop requires a second factor that they do not have yet. */
export const FactorPage = () => {
  const { shop } = useSession();
  const { to } = route.useSearch();
  const router = useRouter();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const signOut = useMutation({
    mutationFn: () => api.delete('/session'),
    onSuccess: async () => {
      forgetSession();
      await navigate({ to: '/sign-in' });
      queryClient.clear();
    },
  });
  return (
    <SignedOutFrame
      tab="Second factor"
      title="Set up a second factor"
      intro={`${shop.name} asks everybody for one: beside the password, a code from your phone. It takes a minute, and you need an authenticator app.`}
    >
      <SetUpFactor action="Begin" onDone={() => router.history.replace(addressOf(to))} />
      <Anchor
        component="button"
        type="button"
        size="sm"
        style={{ alignSelf: 'flex-start' }}
        onClick={() => signOut.mutate()}
      >
        Sign out
      </Anchor>
    </SignedOutFrame>
  );
};
