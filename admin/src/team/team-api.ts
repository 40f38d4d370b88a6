import { keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query';
import type { z } from 'zod';
import type { UserList } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { notifyDone } from '../ui/notify.ts';

const KEY = ['users'] as const;

export const teamQuery = (page: number) =>
  queryOptions({
    queryKey: [...KEY, { page }],
    queryFn: () => api.get<z.infer<typeof UserList>>('/users', { page, limit: 50 }),
    placeholderData: keepPreviousData,
  });

/** Why a name is worth giving. */
export const NAME_HINT = 'Timelines show it. API clients never see the e-mail.';

/** The only refusal that is about one input, though it names no field. */
export const USER_ERROR_CODES = { EMAIL_TAKEN: 'email' } as const;

/** What every dialog does once its change is saved: the list is read again, and mostly that is all. */
export const useTeamChanged = (onClose: () => void) => {
  const queryClient = useQueryClient();
  const changed = () => void queryClient.invalidateQueries({ queryKey: KEY });
  const done = (message: string) => {
    changed();
    notifyDone(message);
    onClose();
  };
  return { changed, done };
};
