import { Button, Group, Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { User } from '../../../contract/admin-people.ts';
import { RowMenu } from '../ui/data-table.tsx';
import { personName } from './person-name.ts';

export type PersonDialog = 'edit' | 'link' | 'password' | 'factor' | 'remove';

interface Props {
  person: User;
  isSelf: boolean;
  onPick: (dialog: PersonDialog) => void;
}

/** What an Admin can do about a person: the usual as a button, the rest in a menu. */
export const PersonActions = ({ person, isSelf, onPick }: Props) => {
  const name = personName(person);
  const navigate = useNavigate();
  const item = (label: string, dialog: PersonDialog) => (
    <Menu.Item onClick={() => onPick(dialog)}>{label}</Menu.Item>
  );
  return (
    <Group gap="xs" wrap="nowrap" display="inline-flex">
      {person.lastSignInAt === null ? (
        <Button
          size="xs"
          variant="default"
          aria-label={`New link for ${name}`}
          onClick={() => onPick('link')}
        >
          New link
        </Button>
      ) : null}
      <Button size="xs" variant="default" aria-label={`Change ${name}`} onClick={() => onPick('edit')}>
        Change
      </Button>
      <RowMenu name={name}>
        {isSelf ? (
          <Menu.Item onClick={() => void navigate({ to: '/account' })}>
            Your e-mail, password and second factor
          </Menu.Item>
        ) : (
          <>
            {item('New link to choose a password', 'link')}
            {item('Set a password', 'password')}
            {person.secondFactor ? item('Reset the second factor', 'factor') : null}
          </>
        )}
        <Menu.Divider />
        <Menu.Item c="var(--mantine-color-error)" onClick={() => onPick('remove')}>
          Remove from the team
        </Menu.Item>
      </RowMenu>
    </Group>
  );
};
