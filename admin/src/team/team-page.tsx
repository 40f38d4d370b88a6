import '@mantine/core/styles/Switch.css';
import { Badge, Button, Card, Group, Menu, Switch } from '@mantine/core';
import { keepPreviousData, queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { type ComponentType, useState } from 'react';
import type { z } from 'zod';
import type { SignInRules } from '../../../contract/admin-access.ts';
import type { User, UserList } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { ROLE_LABELS, sessionQuery, useSession } from '../session/session.ts';
import { DataTable, RowMenu } from '../ui/data-table.tsx';
import { ListPager, PastEnd } from '../ui/list-pager.tsx';
import { notify, notifyDone } from '../ui/notify.ts';
import { PageFrame } from '../ui/page-frame.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { BreakableEmail, SecondLine } from '../ui/two-lines.tsx';
import { EditPersonDialog } from './edit-person-dialog.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { NewLinkDialog } from './link-dialog.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import { RemovePersonDialog } from './remove-person-dialog.tsx';
import { ResetFactorDialog } from './reset-factor-dialog.tsx';

const KEY = ['users'] as const;

const teamQuery = (page: number) =>
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

/** What a person is called here: their name, or their e-mail where they have none. */
export const personName = ({ name, email }: { name: string | null; email: string }): string => name ?? email;

// Only this page has these components.

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

type PersonDialog = 'edit' | 'link' | 'password' | 'factor' | 'remove';

interface PersonActionsProps {
  person: User;
  isSelf: boolean;
  onPick: (dialog: PersonDialog) => void;
}

/** What an Admin can do about a person: the usual as a button, the rest in a menu. */
const PersonActions = ({ person, isSelf, onPick }: PersonActionsProps) => {
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

const RULES = ['sign-in-rules'] as const;

/** Whether everybody of the shop needs a second factor. */
const RequireFactor = () => {
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
