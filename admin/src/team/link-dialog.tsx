import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Mail } from 'lucide-react';
import type { FormEvent } from 'react';
import type { NewLink } from '../../../contract/admin-access.ts';
import type { User } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { CopyField } from '../ui/copy-fields.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { personName } from './team-page.tsx';

export interface ShownLink extends NewLink {
  person: User;
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'short' });

/** A link to hand on. Nobody sees it again, but a new one is made in a moment. */
export const LinkDialog = ({
  person,
  title,
  link,
  linkExpiresAt,
  mailed,
  onClose,
}: ShownLink & { title: string; onClose: () => void }) => (
  <Modal
    opened
    onClose={onClose}
    title={title}
    attributes={{ header: { role: 'none' } }}
    closeOnClickOutside={false}
    closeButtonProps={{ 'aria-label': 'Close' }}
    size="lg"
  >
    <Stack>
      {mailed ? (
        <Group gap="sm" wrap="nowrap">
          <Mail size={18} aria-hidden style={{ flex: 'none' }} />
          <Text>The link is on its way to {person.email} by e-mail. You can also hand it on yourself.</Text>
        </Group>
      ) : (
        <Text>Send this link to {personName(person)} yourself: no e-mail was sent.</Text>
      )}
      <CopyField
        label="Link"
        description="They choose their own password there. Whoever has the link can do that, so send it to nobody else."
        what="the link"
        value={link}
      />
      <Text size="sm" c="dimmed">
        It works once, until {exact.format(new Date(linkExpiresAt))}. It is shown this once.
      </Text>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  </Modal>
);

/** Makes a new link for somebody who forgot their password, or whose invitation is over. */
export const NewLinkDialog = ({ person, onClose }: { person: User; onClose: () => void }) => {
  const make = useMutation({ mutationFn: () => api.post<NewLink>(`/users/${person.id}/link`) });
  const name = personName(person);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    make.mutate();
  };
  if (make.data)
    return <LinkDialog {...make.data} person={person} title={`A link for ${name}`} onClose={onClose} />;
  return (
    <FormDialog
      title={`A new link for ${name}`}
      action="Make the link"
      busy={make.isPending}
      failure={make.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <Text>
        With it they choose a{' '}
        {person.lastSignInAt ? 'new password, within an hour' : 'password, within 72 hours'}. Links that you
        made before stop working. Until they use it, nothing else changes.
      </Text>
    </FormDialog>
  );
};
