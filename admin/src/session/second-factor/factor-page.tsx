import { getRouteApi, useRouter } from '@tanstack/react-router';
import { TextButton } from '../../ui/links.tsx';
import { addressOf, useSession, useSignOut } from '../session.ts';
import { SignedOutFrame } from '../signed-out-frame.tsx';
import { SetUpFactor } from './set-up-factor.tsx';

const route = getRouteApi('/second-factor');

export const FactorPage = () => {
  const { shop } = useSession();
  const { to } = route.useSearch();
  const router = useRouter();
  const signOut = useSignOut();
  return (
    <SignedOutFrame
      tab="Second factor"
      title="Set up a second factor"
      intro={`${shop.name} asks everyone for one: beside the password, a code from your phone. It takes a minute, and you need an authenticator app.`}
    >
      <SetUpFactor action="Begin" onDone={() => router.history.replace(addressOf(to))} />
      <TextButton style={{ alignSelf: 'flex-start' }} onClick={() => signOut.mutate()}>
        Sign out
      </TextButton>
    </SignedOutFrame>
  );
};
