import { Group, Stack, Text } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Overview, OverviewReturn } from '../../../contract/admin.ts';
import { formatNumber } from '../format.ts';
import type { ListSearch } from '../list-search.ts';
import { DueCell, StatusBadge } from '../returns/badges.tsx';
import { KIND_OF, KINDS, type Kind, ofKnownKinds } from '../returns/kinds.ts';
import { useSession } from '../session/session.ts';
import { overviewQuery } from '../shop-queries.ts';
import { texts } from '../texts.ts';
import { lazyPart } from '../ui/lazy.tsx';
import { TextLink } from '../ui/links.tsx';
import { useNow } from '../ui/now.ts';
import { Loading, PageTitle, Section } from '../ui/page-frame.tsx';
import { QueryError } from '../ui/query-view.tsx';
import { formatSpan } from '../ui/relative-time.tsx';
import { OrErased } from '../ui/two-lines.tsx';
import styles from './today.module.css';

const Figures = lazyPart(async () => (await import('./figures.tsx')).Figures, Loading);
const Checklist = lazyPart(async () => (await import('./checklist.tsx')).Checklist, Loading);

const hasReturns = (overview: Overview, kind: Kind): boolean =>
  overview[kind.overview].byStatus.some(({ count }) => count > 0);

export const TodayPage = () => {
  const overview = useSuspenseQuery(overviewQuery);
  const { data } = overview;
  const { tab } = useSearch({ from: '/inside/' });
  const kinds = KINDS.filter((kind) => hasReturns(data, kind));
  return (
    <Stack gap="md" pb="xl">
      <Group justify="space-between" wrap="nowrap">
        <PageTitle>{texts.today.title}</PageTitle>
        {kinds.length > 0 ? <Tabs /> : null}
      </Group>
      <QueryError query={overview} title={texts.common.notRefreshed} />
      {data.failingReceivers?.map((receiver) => (
        <FailingReceiver key={receiver.clientId} receiver={receiver} />
      ))}
      {kinds.length === 0 ? <Checklist /> : null}
      {kinds.length > 0 && tab === 'figures' ? <Figures overview={data} /> : null}
      {kinds.length > 0 && tab !== 'figures' ? <Work overview={data} kinds={kinds} /> : null}
    </Stack>
  );
};

const Tabs = () => (
  <nav className={styles['tabs']} aria-label={texts.today.tabs}>
    {TABS.map(({ label, search }) => (
      <Link key={label} to="/" search={search} activeOptions={{ exact: true, includeSearch: true }}>
        {label}
      </Link>
    ))}
  </nav>
);
const TABS = [
  { label: texts.today.work, search: {} },
  { label: texts.today.figures, search: { tab: 'figures' } },
] as const;

type FailingReceiver = NonNullable<Overview['failingReceivers']>[number];

const FailingReceiver = ({ receiver }: { receiver: FailingReceiver }) => {
  const { clientId, name, since, lastError } = receiver;
  const now = useNow();
  return (
    <p role="status" className={styles['failing']}>
      <TriangleAlert />
      <span title={texts.today.lastError(lastError)}>
        {texts.today.receiverFails(name, formatSpan(Date.parse(since), now))}.{' '}
        <span className={styles['error']}>{texts.today.lastError(lastError)}.</span>
      </span>
      <TextLink
        to="/settings/external-api/$id"
        params={{ id: clientId }}
        aria-label={texts.today.deliveriesTo(name)}
        c="inherit"
        underline="always"
        inherit
      >
        {texts.today.deliveries}
      </TextLink>
    </p>
  );
};

type Figure = 'overdue' | 'dueToday' | 'mine' | 'createdToday' | 'waiting' | 'unassigned';

/** Each figure with the filters of the list that shows exactly its rows. */
const figuresOf = ({ now, todayBegins, todayEnds }: Overview) =>
  [
    { figure: 'overdue', label: texts.today.overdue, search: { overdue: true, sort: 'dueAt' } },
    {
      figure: 'dueToday',
      label: texts.today.dueToday,
      search: { dueFrom: now, dueTo: todayEnds, sort: 'dueAt' },
    },
    { figure: 'mine', label: texts.today.mine, search: { assignee: 'me', sort: 'dueAt' } },
    {
      figure: 'createdToday',
      label: texts.today.newToday,
      search: { open: 'all', createdFrom: todayBegins, createdTo: todayEnds },
    },
    { figure: 'waiting', label: texts.today.waiting, search: { waitingFor: 'any' } },
    { figure: 'unassigned', label: texts.today.unassigned, search: { assignee: 'none', sort: 'dueAt' } },
  ] satisfies { figure: Figure; label: string; search: ListSearch }[];

const Work = ({ overview, kinds }: { overview: Overview; kinds: readonly Kind[] }) => (
  <>
    <div className={styles['figures']}>
      {figuresOf(overview).map(({ figure, label, search }) => (
        <section key={figure} aria-label={label} data-figure={figure}>
          <h3>{label}</h3>
          {kinds.map((kind) => {
            const count = overview[kind.overview][figure];
            return (
              <Link key={kind.path} to={kind.path} search={search} preload={false}>
                <span className={styles['number']} data-none={count === 0 || undefined}>
                  {formatNumber(count)}
                </span>{' '}
                <span className={styles['noun']}>{count === 1 ? kind.one : kind.many}</span>
              </Link>
            );
          })}
        </section>
      ))}
    </div>
    <div className={styles['columns']}>
      <ReturnList
        title={texts.today.nextUp}
        returns={overview.next}
        kinds={kinds}
        search={{ sort: 'dueAt' }}
        all={texts.today.all}
        empty={<NothingNext overview={overview} kinds={kinds} />}
      />
      <ReturnList
        title={texts.today.myWork}
        returns={overview.mine}
        kinds={kinds}
        search={{ assignee: 'me', sort: 'dueAt' }}
        all={texts.today.allMine}
        empty={texts.today.nothingMine}
      />
    </div>
  </>
);

/** Without targets nothing is ever due, however much is open. */
const NothingNext = ({ overview, kinds }: { overview: Overview; kinds: readonly Kind[] }) => {
  const { user } = useSession();
  const open = kinds.reduce((sum, kind) => sum + overview[kind.overview].open, 0);
  if (open === 0) return texts.today.nothingNext;
  return (
    <>
      {texts.today.nothingDue(open)}{' '}
      {user.role === 'ADMIN' ? (
        <TextLink to="/settings/targets" size="sm">
          {texts.today.steps.targets.title}
        </TextLink>
      ) : null}
    </>
  );
};

interface ListProps {
  title: string;
  returns: readonly OverviewReturn[];
  /** Where all of them are. */
  kinds: readonly Kind[];
  search: ListSearch;
  all(many: string): string;
  empty: ReactNode;
}

const ReturnList = ({ title, returns, kinds, search, all, empty }: ListProps) => (
  <Section
    title={title}
    aside={
      <Group gap="sm">
        {kinds.map(({ path, many }) => (
          <TextLink key={path} to={path} search={search} size="xs" preload={false}>
            {all(many)}
          </TextLink>
        ))}
      </Group>
    }
  >
    {returns.length === 0 ? (
      <Text c="dimmed" size="sm" py="md">
        {empty}
      </Text>
    ) : (
      <ul className={styles['rows']}>
        {ofKnownKinds(returns).map((item) => (
          <li key={item.id}>
            <Link to={KIND_OF[item.kind].detail} params={{ id: item.id }} preload={false}>
              <span className={styles['rma']}>{item.rmaNumber}</span>
              <span className={styles['what']}>
                <bdi>{item.title}</bdi>
                <bdi className={styles['who']}>
                  <OrErased>{item.customerName}</OrErased>
                </bdi>
              </span>
              <span className={styles['status']}>
                <StatusBadge status={item.status} isPartly={item.isPartlyReceived} />
              </span>
              <span className={styles['due']}>
                <DueCell {...item} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    )}
  </Section>
);
