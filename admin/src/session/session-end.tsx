import { useEffect, useState } from 'react';
import { SIGNED_OUT } from '../api.ts';
import { lazyPart, whenIdle } from '../ui/lazy.tsx';
import { isSignInRemembered, useLeave, useSession } from './session.ts';

const SignInAgain = lazyPart(async () => (await import('./sign-in-again.tsx')).SignInAgain);

/** What happens when the session ends while the app is open. */
export const SessionEnd = () => {
  const { user } = useSession();
  const [hasEnded, setEnded] = useState(false);
  const leave = useLeave();
  useEffect(() => {
    // Ahead, so that it opens in a moment in which many things do not work.
    void whenIdle().then(SignInAgain.preload);
    const onEnd = () => setEnded(isSignInRemembered());
    // Signed out in another tab: nothing of the person stays here either.
    const onStorage = () => {
      if (!isSignInRemembered()) void leave();
    };
    window.addEventListener(SIGNED_OUT, onEnd);
    window.addEventListener('storage', onStorage);
    return () => {
      window.removeEventListener(SIGNED_OUT, onEnd);
      window.removeEventListener('storage', onStorage);
    };
  }, [leave]);
  return hasEnded ? <SignInAgain email={user.email} onDone={() => setEnded(false)} /> : null;
};
