import '@mantine/core/styles/Switch.css';
import { Badge, Button, Group, NativeSelect, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Plus, Search } from 'lucide-react';
import { useState } from 'react';
import type { SignInRules } from '../../../contract/admin-access.ts';
import type { User } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { roleName, sessionQuery, useSession } from '../session/session.ts';
import { getQuery } from '../shop-queries.ts';
import { texts } from '../texts.ts';
import { ActionMenu } from '../ui/action-menu.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { Dot } from '../ui/dot.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { notifyDone, notifyFailed } from '../ui/notify.ts';
import { PageFrame, Section } from '../ui/page-frame.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { BreakableEmail, Dimmed, SecondLine } from '../ui/two-lines.tsx';
import { InviteDialog, PERSON_DIALOGS, personName, teamQuery } from './person-dialogs.tsx';

const t = texts.team;

type PersonDialog = keyof typeof PERSON_DIALOGS;

export const TeamPage = () => {
  const [inviting, setInviting] = useState(false);
  const [open, setOpen] = useState<{ dialog: PersonDialog; person: User } | null>(null);
  const Dialog = open && PERSON_DIALOGS[open.dialog];
  const team = useQuery(teamQuery);
  return (
    <PageFrame
      title={t.title}
      intro={t.intro}
      actions={
        <Button leftSection={<Plus />} onClick={() => setInviting(true)}>
          {t.invite}
        </Button>
      }
    >
      <QueryView query={team}>
        {(people) => (
          <FilteredPeople people={people} onPick={(dialog, person) => setOpen({ dialog, person })} />
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

type Filter = keyof typeof t.filters;

const fits = ({ role, lastSignInAt }: User, filter: Filter): boolean => {
  if (filter === 'never') return lastSignInAt === null;
  return filter === 'all' || role === filter;
};

const byName = (one: User, other: User): number =>
  personName(one).localeCompare(personName(other), undefined, { sensitivity: 'base' });

const FilteredPeople = ({ people, onPick }: PeopleProps) => {
  const [typed, setTyped] = useState('');
  const [filter, setFilter] = useState<Filter>('all');
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = people
    .filter((person) => fits(person, filter))
    .filter(({ name, email }) => words.every((word) => `${name ?? ''} ${email}`.toLowerCase().includes(word)))
    .toSorted(byName);
  const clear = () => {
    setTyped('');
    setFilter('all');
  };
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <TextInput
          type="search"
          aria-label={t.search}
          placeholder={t.search}
          flex="1 1 14rem"
          maw="24rem"
          leftSection={<Search />}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <NativeSelect
          aria-label={t.show}
          data={Object.entries(t.filters).map(([value, label]) => ({ value, label }))}
          value={filter}
          onChange={({ currentTarget }) => setFilter(currentTarget.value as Filter)}
        />
        <Text size="sm" c="dimmed" role="status">
          {t.people(shown.length)}
        </Text>
      </Group>
      {shown.length === 0 ? (
        <EmptyState title={t.noMatch} description={t.noMatchHint}>
          <Button variant="default" onClick={clear}>
            {t.clear}
          </Button>
        </EmptyState>
      ) : (
        <People people={shown} onPick={onPick} />
      )}
    </Stack>
  );
};

const People = ({ people, onPick }: PeopleProps) => {
  const { user } = useSession();
  return (
    <DataTable
      caption={t.caption}
      columns={[
        {
          header: t.person,
          width: '45%',
          cell: (person) => (
            <>
              <Group gap="xs" component="span">
                <bdi>{person.name ?? <BreakableEmail email={person.email} />}</bdi>
                {person.id === user.id ? <Badge variant="default">{t.you}</Badge> : null}
              </Group>
              {person.name ? (
                <SecondLine>
                  <BreakableEmail email={person.email} />
                </SecondLine>
              ) : null}
            </>
          ),
        },
        { header: t.role, noWrap: true, cell: ({ role }) => roleName(role) },
        {
          header: t.lastSignIn,
          noWrap: true,
          cell: ({ lastSignInAt }) =>
            lastSignInAt ? <RelativeTime at={lastSignInAt} /> : <Dimmed>{t.never}</Dimmed>,
        },
        {
          header: t.twoStepShort,
          noWrap: true,
          cell: ({ secondFactor }) => (
            <Dot
              label={secondFactor ? t.on : t.off}
              color={secondFactor ? 'teal' : 'gray'}
              isOver={!secondFactor}
            />
          ),
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
  const navigate = useNavigate();
  const action = (label: string, dialog: PersonDialog) => ({ label, run: () => onPick(dialog) });
  return (
    <ActionMenu
      rowName={personName(person)}
      groups={[
        [action(t.edit, 'edit')],
        isSelf
          ? [{ label: t.ownAccount, run: () => void navigate({ to: '/account' }) }]
          : [
              action(person.lastSignInAt === null ? t.sendInvite : t.sendLink, 'link'),
              action(t.setPassword, 'password'),
              ...(person.secondFactor ? [action(t.resetTwoStep, 'factor')] : []),
            ],
        [{ ...action(t.remove, 'remove'), dangerous: true }],
      ]}
    />
  );
};

const rulesQuery = getQuery<SignInRules>('sign-in-rules');

const RequireFactor = () => {
  const { user } = useSession();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const rules = useQuery(rulesQuery);
  const change = useMutation({
    mutationFn: (secondFactorRequired: boolean) =>
      api.put<SignInRules>('/sign-in-rules', { secondFactorRequired }),
    onSuccess: async (next) => {
      queryClient.setQueryData(rulesQuery.queryKey, next);
      await queryClient.refetchQueries(sessionQuery);
      if (next.secondFactorRequired && !user.secondFactor)
        return navigate({ to: '/second-factor', search: { to: '/settings/team' } });
      notifyDone(next.secondFactorRequired ? t.required : t.optional);
    },
    onError: (error) => notifyFailed(t.notChanged, error),
  });
  const required = change.isPending ? change.variables : (rules.data?.secondFactorRequired ?? false);
  return (
    <Section title={t.twoStep}>
      <Switch
        label={t.require}
        description={user.secondFactor ? t.requireHint : `${t.requireHint} ${t.requireYou}`}
        checked={required}
        disabled={!rules.data || change.isPending}
        onChange={(event) => change.mutate(event.currentTarget.checked)}
      />
    </Section>
  );
};
