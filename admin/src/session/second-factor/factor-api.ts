import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { SecondFactor } from '../../../../contract/admin-access.ts';
import { api } from '../../api.ts';
import { ownSessionsQuery } from '../own-sessions.tsx';
import { type Session, sessionQuery } from '../session.ts';

export const factorQuery = queryOptions({
  queryKey: ['second-factor'],
  queryFn: () => api.get<SecondFactor>('/session/second-factor'),
});

/** Tells the rest of the app that the second factor is on or off now. */
export const useFactorChanged = () => {
  const queryClient = useQueryClient();
  return (secondFactor: boolean): void => {
    queryClient.setQueryData(sessionQuery.queryKey, (session: Session | null | undefined) =>
      session ? { ...session, user: { ...session.user, secondFactor } } : session,
    );
    void queryClient.invalidateQueries({ queryKey: factorQuery.queryKey });
    void queryClient.invalidateQueries(ownSessionsQuery);
  };
};
