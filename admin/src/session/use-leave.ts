import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';
import { forgetSession } from './session.ts';

/** Forgets everything of the person and leads to the sign-in page; the queries last, since the page would ask for its data again. */
export const useLeave = (): (() => Promise<void>) => {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return useCallback(async () => {
    forgetSession();
    await navigate({ to: '/sign-in' });
    queryClient.clear();
  }, [navigate, queryClient]);
};
