import { Card, Switch } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { SignInRules } from '../../../contract/admin-access.ts';
import { api } from '../api.ts';
import { sessionQuery, useSession } from '../session/session.ts';
import { notify, notifyDone } from '../ui/notify.ts';

const RULES = ['sign-in-rules'] as const;

/** Whether everybody of the shop needs a second factor. */
export const RequireFactor = () => {
  const { user } = useSession();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const rules = useQuery({ queryKey: RULES, queryFn: () => api.get<SignInRules>('/sign-in-rules') });
  const change = useMutation({
    mutationFn: (secondFactorRequired: boolean) =>
      api.put<SignInRules>('/sign-in-rules', { secondFactorRequired }),
    onSuccess: async (next) => {
      queryClient.setQueryData(RULES, next);
      await queryClient.refetchQueries(sessionQuery);
      if (next.secondFactorRequired && !user.secondFactor)
        return navigate({ to: '/second-factor', search: { to: '/settings/team' } });
      notifyDone(
        next.secondFactorRequired
          ? 'Everybody needs a second factor now.'
          : 'The second factor is up to each person now.',
      );
    },
    onError: ({ message }) => void notify({ color: 'red', title: 'Nothing was changed', message }),
  });
  const required = change.isPending ? change.variables : (rules.data?.secondFactorRequired ?? false);
  return (
    <Card withBorder>
      <Switch
        label="Require a second factor of everybody"
        description={`Whoever has none sets one up at their next step, before anything else.${
          user.secondFactor ? '' : ' You have none yet: you begin with yourself.'
        }`}
        // Without it the track of one that is off is hardly to be seen.
        styles={{ track: { border: '1px solid var(--mantine-color-dimmed)' } }}
        checked={required}
        disabled={!rules.data || change.isPending}
        onChange={(event) => change.mutate(event.currentTarget.checked)}
      />
    </Card>
  );
};
