import { useWindowEvent } from '@mantine/hooks';
import { useEffect, useEffectEvent, useState } from 'react';
import { askForProofWith, SIGNED_OUT } from '../api.ts';
import { lazyPart, whenIdle } from '../ui/lazy.tsx';
import { isSignInRemembered, useLeave, useSession } from './session.ts';

const SignInAgain = lazyPart(async () => (await import('./interruption-dialogs.tsx')).SignInAgain);

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

const loadProof = () => import('./interruption-dialogs.tsx').catch(() => null);
const ProofDialog = lazyPart(async () => (await import('./interruption-dialogs.tsx')).ProofDialog);

/** Asks for the password or a code when a call needs a proof of identity (contract §22); the call waits for it. */
export const ProofRequired = () => {
  /** What the call waits for, while it does. */
  const [onDone, setOnDone] = useState<((proved: boolean) => void) | null>(null);
  useEffect(() => {
    if (isSignInRemembered()) void whenIdle().then(loadProof);
    return askForProofWith(async () => {
      if (!(await loadProof())) return false;
      const proved = await new Promise<boolean>((resolve) => setOnDone(() => resolve));
      setOnDone(null);
      return proved;
    });
  }, []);
  useWindowEvent(SIGNED_OUT, () => onDone?.(false));
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.isComposing || !onDone) return;
    event.stopImmediatePropagation();
    onDone(false);
  });
  // Registered once, before any dialog below registers its own: Escape closes this one alone.
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKey(event);
    window.addEventListener('keydown', listener, { capture: true });
    return () => window.removeEventListener('keydown', listener, { capture: true });
  }, []);
  return onDone ? <ProofDialog onDone={onDone} /> : null;
};
