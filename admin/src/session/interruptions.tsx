import { useWindowEvent } from '@mantine/hooks';
import { type ComponentType, useEffect, useRef, useState } from 'react';
import { askForProofWith, SIGNED_OUT } from '../api.ts';
import { lazyPart, whenIdle } from '../ui/lazy.tsx';
import { isSignInRemembered, useLeave, useSession } from './session.ts';

const SignInAgain = lazyPart(async () => (await import('./sign-in-again.tsx')).SignInAgain);

export const SessionEnd = () => {
  const { user } = useSession();
  const [hasEnded, setEnded] = useState(false);
  const leave = useLeave();
  // Ahead, so that it opens in a moment in which many things do not work.
  useEffect(() => void whenIdle().then(SignInAgain.preload), []);
  useWindowEvent(SIGNED_OUT, () => setEnded(isSignInRemembered()));
  // Signed out in another tab: nothing of the person stays here either.
  useWindowEvent('storage', () => {
    if (!isSignInRemembered()) void leave();
  });
  return hasEnded ? <SignInAgain email={user.email} onDone={() => setEnded(false)} /> : null;
};

const loadDialog = () => import('./proof-dialog.tsx');

interface Asked {
  Dialog: ComponentType<{ onDone: (proved: boolean) => void }>;
  onDone: (proved: boolean) => void;
}

/** Asks for the password or a code when a call needs a proof of identity (contract §22); the call waits for it. */
export const ProofRequired = () => {
  const [asked, setAsked] = useState<Asked | null>(null);
  const current = useRef<Asked | null>(null);
  useEffect(() => {
    const show = (next: Asked | null) => {
      current.current = next;
      setAsked(next);
    };
    const ask = async (): Promise<boolean> => {
      const loaded = await loadDialog().catch(() => null);
      if (!loaded) return false;
      const proved = await new Promise<boolean>((onDone) => show({ Dialog: loaded.ProofDialog, onDone }));
      show(null);
      return proved;
    };
    const cancel = () => current.current?.onDone(false);
    // Registered before any dialog below registers its own: Escape closes this one alone.
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || !current.current) return;
      event.stopImmediatePropagation();
      cancel();
    };
    if (isSignInRemembered()) void whenIdle().then(() => loadDialog().catch(() => {}));
    const stopAsking = askForProofWith(ask);
    window.addEventListener('keydown', onKey, { capture: true });
    window.addEventListener(SIGNED_OUT, cancel);
    return () => {
      stopAsking();
      window.removeEventListener('keydown', onKey, { capture: true });
      window.removeEventListener(SIGNED_OUT, cancel);
    };
  }, []);
  return asked ? <asked.Dialog onDone={asked.onDone} /> : null;
};
