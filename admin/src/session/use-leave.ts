import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';
import { forgetSession } from './session.ts';

/** Leads to the sign-in page and forgets everything of the person. First away from the page, which would ask for its data again. */
export const useLeave = (): (() => Promise<void>) => {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return useCallback(async () => {
    forgetSession();
    await navigate({ to: '/sign-in' });
    queryClient.clear();
  }, [navigate, queryClient]);
};
