// Only this page has these components.
import '@mantine/core/styles/Switch.css';
import { Badge, Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { type ComponentType, useState } from 'react';
import type { User } from '../../../contract/admin-people.ts';
import { ROLE_LABELS } from '../session/roles.ts';
import { useSession } from '../session/session.ts';
import { BreakableEmail } from '../ui/breakable.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { ListPager } from '../ui/list-pager.tsx';
import { PageFrame } from '../ui/page-frame.tsx';
import { PastEnd } from '../ui/past-end.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { SecondLine } from '../ui/second-line.tsx';
import { EditPersonDialog } from './edit-person-dialog.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { NewLinkDialog } from './link-dialog.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import { PersonActions, type PersonDialog } from './person-actions.tsx';
import { personName } from './person-name.ts';
import { RemovePersonDialog } from './remove-person-dialog.tsx';
import { RequireFactor } from './require-factor.tsx';
import { ResetFactorDialog } from './reset-factor-dialog.tsx';
import { teamQuery } from './team-api.ts';

const route = getRouteApi('/inside/settings/team');

const DIALOGS: Record<PersonDialog, ComponentType<{ person: User; onClose: () => void }>> = {
  edit: EditPersonDialog,
  link: NewLinkDialog,
  password: PasswordDialog,
  factor: ResetFactorDialog,
  remove: RemovePersonDialog,
};
type Open = { dialog: PersonDialog; person: User };

export const TeamPage = () => {
  const { page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const toPage = (next: number) => void navigate({ search: next > 1 ? { page: next } : {} });
  const [inviting, setInviting] = useState(false);
  const [open, setOpen] = useState<Open | null>(null);
  const Dialog = open && DIALOGS[open.dialog];
  const team = useQuery(teamQuery(page));
  return (
    <PageFrame
      title="Team"
      intro="The people of the shop who sign in here. Staff work on returns; Admins also see these settings."
      actions={
        <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setInviting(true)}>
          Invite person
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
      <RequireFactor />
      {inviting ? <InviteDialog onClose={() => setInviting(false)} /> : null}
      {Dialog ? <Dialog person={open.person} onClose={() => setOpen(null)} /> : null}
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
          header: 'Person',
          width: '40%',
          cell: (person) => (
            <>
              <Group gap="xs" component="span">
                <bdi>{person.name ?? <BreakableEmail email={person.email} />}</bdi>
                {person.id === user.id ? <Badge variant="default">You</Badge> : null}
              </Group>
              {person.name ? (
                <SecondLine>
                  <BreakableEmail email={person.email} />
                </SecondLine>
              ) : null}
            </>
          ),
        },
        { header: 'Role', noWrap: true, cell: ({ role }) => ROLE_LABELS[role].name },
        {
          header: 'Last sign-in',
          noWrap: true,
          cell: ({ lastSignInAt }) => (lastSignInAt ? <RelativeTime at={lastSignInAt} /> : <Never />),
        },
        {
          header: 'Second factor',
          noWrap: true,
          cell: ({ secondFactor }) => (secondFactor ? 'On' : 'Off'),
        },
      ]}
      rows={people}
      nameOf={personName}
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

const Never = () => (
  <Badge variant="light" color="yellow">
    Never signed in
  </Badge>
);
