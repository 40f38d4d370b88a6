import { Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import type { User } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { personName, useTeamChanged } from './team-page.tsx';

export const ResetFactorDialog = ({ person, onClose }: { person: User; onClose: () => void }) => {
  const { done } = useTeamChanged(onClose);
  const name = personName(person);
  const reset = useMutation({
    mutationFn: () => api.delete<null>(`/users/${person.id}/second-factor`),
    onSuccess: () => done(`${name} has no second factor any more.`),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    reset.mutate();
  };
  return (
    <FormDialog
      title={`Reset the second factor of ${name}?`}
      action="Reset"
      dangerous
      busy={reset.isPending}
      failure={reset.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <Text>
        For somebody who lost their phone. They are signed out everywhere and then sign in with their password
        alone. Make sure that it is really {name} who asks you.
      </Text>
    </FormDialog>
  );
};
