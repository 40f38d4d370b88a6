import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import type { z } from 'zod';
import type { SignedIn } from '../../../contract/admin-people.ts';
import { ApiError, api } from '../api.ts';
import { clearDrafts } from '../ui/draft.ts';

export type Session = z.infer<typeof SignedIn>;

/** Scripts cannot see the cookie; this note spares a visitor who never signed in a question that can only be refused. */
const BEEN_HERE = 'handback.signed-in';
export const rememberSignIn = (signedIn: boolean): void =>
  signedIn ? localStorage.setItem(BEEN_HERE, 'yes') : localStorage.removeItem(BEEN_HERE);

/** On a computer that others use: nothing of whoever signed in here is left behind. */
export const forgetSession = (): void => {
  rememberSignIn(false);
  clearDrafts();
};

/** Who is signed in; null for nobody. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async (): Promise<Session | null> => {
    if (!localStorage.getItem(BEEN_HERE)) return null;
    try {
      return await api.get<Session>('/session');
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      rememberSignIn(false);
      return null;
    }
  },
  staleTime: 60_000,
});

/** For pages behind the sign-in, where there always is somebody. */
export const useSession = (): Session => {
  const { data } = useSuspenseQuery(sessionQuery);
  if (!data) throw new Error('signed out');
  return data;
};
