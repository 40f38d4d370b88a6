import { Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import type { User } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { forgetSession, useSession } from '../session/session.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { personName, useTeamChanged } from './team-page.tsx';

interface Props {
  person: User;
  onClose: () => void;
}

export const RemovePersonDialog = ({ person, onClose }: Props) => {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { user } = useSession();
  const { done } = useTeamChanged(onClose);
  const isSelf = user.id === person.id;
  const removing = useMutation({
    mutationFn: () => api.delete<null>(`/users/${person.id}`),
    onSuccess: async () => {
      if (!isSelf) return done(`${personName(person)} is removed.`);
      forgetSession();
      await navigate({ to: '/sign-in' });
      queryClient.clear();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    removing.mutate();
  };
  return (
    <FormDialog
      title={`Remove ${personName(person)}?`}
      action="Remove person"
      dangerous
      busy={removing.isPending}
      failure={removing.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <Text>
        {isSelf
          ? 'This is you: you are signed out at once and cannot come back by yourself.'
          : 'They are signed out at once and can no longer sign in. What they did stays in the timelines and in the audit log.'}
      </Text>
    </FormDialog>
  );
};
