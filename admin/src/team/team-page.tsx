import { Badge, Button, Group } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { z } from 'zod';
import type { User, UserList } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { ROLE_LABELS } from '../session/roles.ts';
import { useSession } from '../session/session.ts';
import { DataTable } from '../ui/data-table.tsx';
import { ButtonLink } from '../ui/links.tsx';
import { ListPager } from '../ui/list-pager.tsx';
import { PageFrame } from '../ui/page-frame.tsx';
import { PastEnd } from '../ui/past-end.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import {
  AddPersonDialog,
  EditPersonDialog,
  PasswordDialog,
  RemovePersonDialog,
  teamKey,
} from './team-dialogs.tsx';

const route = getRouteApi('/inside/settings/team');

type OfPerson = 'edit' | 'password' | 'remove';
type Open = { dialog: 'add' } | { dialog: OfPerson; person: User };

export const TeamPage = () => {
  const { user } = useSession();
  const { page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const toPage = (next: number) => void navigate({ search: next > 1 ? { page: next } : {} });
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const team = useQuery({
    queryKey: [...teamKey, { page }],
    queryFn: () => api.get<z.infer<typeof UserList>>('/users', { page, limit: 50 }),
    placeholderData: keepPreviousData,
  });
  return (
    <PageFrame
      title="Team"
      lead="The people of the shop who sign in here. Staff work on returns; Admins also see these settings."
      actions={
        <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setOpen({ dialog: 'add' })}>
          Add person
        </Button>
      }
    >
      <QueryView query={team}>
        {(list) =>
          list.items.length === 0 ? (
            <PastEnd there={`${list.total} people`} onFirst={() => toPage(1)} />
          ) : (
            <>
              <DataTable
                caption="People of the shop, newest first"
                columns={[
                  {
                    head: 'E-mail',
                    width: '50%',
                    cell: ({ id, email }) => (
                      <Group gap="xs">
                        {email}
                        {id === user.id ? <Badge variant="default">You</Badge> : null}
                      </Group>
                    ),
                  },
                  { head: 'Role', cell: ({ role }) => ROLE_LABELS[role].name },
                  { head: 'Added', firm: true, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
                ]}
                rows={list.items}
                nameOf={({ email }) => email}
                actions={(person) => (
                  <PersonActions
                    person={person}
                    isSelf={person.id === user.id}
                    onPick={(dialog) => setOpen({ dialog, person })}
                  />
                )}
              />
              <ListPager list={list} things={['person', 'people']} onPage={toPage} />
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

interface ActionProps {
  person: User;
  isSelf: boolean;
  onPick: (dialog: OfPerson) => void;
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
