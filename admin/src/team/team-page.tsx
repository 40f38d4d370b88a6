import '@mantine/core/styles/Switch.css';
import { Badge, Button, Card, Group, Switch } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { SignInRules } from '../../../contract/admin-access.ts';
import type { User } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { ROLE_LABELS, sessionQuery, useSession } from '../session/session.ts';
import { ActionMenu } from '../ui/action-menu.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { PagedList } from '../ui/list-pager.tsx';
import { notify, notifyDone } from '../ui/notify.ts';
import { PageFrame } from '../ui/page-frame.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { BreakableEmail, SecondLine } from '../ui/two-lines.tsx';
import { InviteDialog, PERSON_DIALOGS, personName, teamQuery } from './person-dialogs.tsx';

const route = getRouteApi('/inside/settings/team');

type PersonDialog = keyof typeof PERSON_DIALOGS;

export const TeamPage = () => {
  const { page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const toPage = (next: number) => void navigate({ search: next > 1 ? { page: next } : {} });
  const [inviting, setInviting] = useState(false);
  const [open, setOpen] = useState<{ dialog: PersonDialog; person: User } | null>(null);
  const Dialog = open && PERSON_DIALOGS[open.dialog];
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
        {(list) => (
          <PagedList list={list} noun={['person', 'people']} onPage={toPage}>
            <People people={list.items} onPick={(dialog, person) => setOpen({ dialog, person })} />
          </PagedList>
        )}
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
          cell: ({ lastSignInAt }) =>
            lastSignInAt ? (
              <RelativeTime at={lastSignInAt} />
            ) : (
              <Badge variant="light" color="yellow">
                Never signed in
              </Badge>
            ),
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

interface PersonActionsProps {
  person: User;
  isSelf: boolean;
  onPick: (dialog: PersonDialog) => void;
}

const PersonActions = ({ person, isSelf, onPick }: PersonActionsProps) => {
  const name = personName(person);
  const navigate = useNavigate();
  const action = (label: string, dialog: PersonDialog) => ({ label, run: () => onPick(dialog) });
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
      <ActionMenu
        rowName={name}
        groups={[
          isSelf
            ? [
                {
                  label: 'Your e-mail, password and second factor',
                  run: () => void navigate({ to: '/account' }),
                },
              ]
            : [
                action('New link to choose a password', 'link'),
                action('Set a password', 'password'),
                ...(person.secondFactor ? [action('Reset the second factor', 'factor')] : []),
              ],
          [{ ...action('Remove from the team', 'remove'), dangerous: true }],
        ]}
      />
    </Group>
  );
};

const RULES = ['sign-in-rules'] as const;

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
          ? 'Everyone needs a second factor now.'
          : 'The second factor is up to each person now.',
      );
    },
    onError: ({ message }) => void notify({ color: 'red', title: 'Nothing was changed', message }),
  });
  const required = change.isPending ? change.variables : (rules.data?.secondFactorRequired ?? false);
  return (
    <Card withBorder>
      <Switch
        label="Require a second factor for everyone"
        description={`People without one set it up at their next step, before anything else.${
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
