import { Badge, Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { User } from '../../../contract/admin-people.ts';
import { ROLE_LABELS } from '../session/roles.ts';
import { useSession } from '../session/session.ts';
import { DataTable } from '../ui/data-table.tsx';
import { ButtonLink } from '../ui/links.tsx';
import { ListPager } from '../ui/list-pager.tsx';
import { PageFrame } from '../ui/page-frame.tsx';
import { PastEnd } from '../ui/past-end.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { AddPersonDialog } from './add-person-dialog.tsx';
import { EditPersonDialog } from './edit-person-dialog.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import { RemovePersonDialog } from './remove-person-dialog.tsx';
import { teamQuery } from './team-api.ts';

const route = getRouteApi('/inside/settings/team');

type PersonDialog = 'edit' | 'password' | 'remove';
type Open = { dialog: 'add' } | { dialog: PersonDialog; person: User };

export const TeamPage = () => {
  const { page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const toPage = (next: number) => void navigate({ search: next > 1 ? { page: next } : {} });
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const team = useQuery(teamQuery(page));
  return (
    <PageFrame
      title="Team"
      intro="The people of the shop who sign in here. Staff work on returns; Admins also see these settings."
      actions={
        <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setOpen({ dialog: 'add' })}>
          Add person
        </Button>
      }
    >
      <QueryView query={team}>
        {(list) =>
          list.items.length === 0 ? (
            <PastEnd count={`${list.total} people`} onFirst={() => toPage(1)} />
          ) : (
            <>
              <People people={list.items} onPick={(dialog, person) => setOpen({ dialog, person })} />
              <ListPager list={list} noun={['person', 'people']} onPage={toPage} />
            </>
          )
        }
      </QueryView>
      {open?.dialog === 'add' ? <AddPersonDialog onClose={close} /> : null}
      {open?.dialog === 'edit' ? <EditPersonDialog person={open.person} onClose={close} /> : null}
      {open?.dialog === 'password' ? <PasswordDialog person={open.person} onClose={close} /> : null}
      {open?.dialog === 'remove' ? <RemovePersonDialog person={open.person} onClose={close} /> : null}
    </PageFrame>
  );
};

interface PeopleProps {
  people: readonly User[];
  onPick: (dialog: PersonDialog, person: User) => void;
}

const People = ({ people, onPick }: PeopleProps) => {
  const { user } = useSession();
  return (
    <DataTable
      caption="People of the shop, newest first"
      columns={[
        {
          header: 'E-mail',
          width: '35%',
          cell: ({ id, email }) => (
            <Group gap="xs">
              {email}
              {id === user.id ? <Badge variant="default">You</Badge> : null}
            </Group>
          ),
        },
        { header: 'Name', cell: ({ name }) => name },
        { header: 'Role', cell: ({ role }) => ROLE_LABELS[role].name },
        { header: 'Added', noWrap: true, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
      ]}
      rows={people}
      nameOf={({ email }) => email}
      actions={(person) => (
        <PersonActions
          person={person}
          isSelf={person.id === user.id}
          onPick={(dialog) => onPick(dialog, person)}
        />
      )}
    />
  );
};

interface ActionProps {
  person: User;
  isSelf: boolean;
  onPick: (dialog: PersonDialog) => void;
}

const PersonActions = ({ person, isSelf, onPick }: ActionProps) => {
  const button = (label: string, what: string, onClick: () => void) => (
    <Button size="xs" variant="default" aria-label={`${label} ${what}`} onClick={onClick}>
      {label}
    </Button>
  );
  return (
    <Group gap="xs" wrap="nowrap" display="inline-flex">
      {button('Change', person.email, () => onPick('edit'))}
      {isSelf ? (
        <ButtonLink to="/account" size="xs" variant="default" aria-label="New password for yourself">
          New password
        </ButtonLink>
      ) : (
        button('New password', `for ${person.email}`, () => onPick('password'))
      )}
      {button('Remove', person.email, () => onPick('remove'))}
    </Group>
  );
};
