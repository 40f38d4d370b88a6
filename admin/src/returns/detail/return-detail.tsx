import { Grid, Group, Skeleton, Stack, Text } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { PencilLine, Printer, UserRoundCheck } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { RelatedReturns } from '../../../../contract/admin-returns.ts';
import { ApiError, api } from '../../api.ts';
import { useBlocked } from '../../session/blocked.tsx';
import { useSession } from '../../session/session.ts';
import type { MenuAction } from '../../ui/action-menu.tsx';
import { CopyButton } from '../../ui/copy-fields.tsx';
import { lazyPart } from '../../ui/lazy.tsx';
import { ButtonLink, TextLink } from '../../ui/links.tsx';
import { PageTitle, Section } from '../../ui/page-frame.tsx';
import { QueryError } from '../../ui/query-view.tsx';
import { formatSpan, RelativeTime } from '../../ui/relative-time.tsx';
import { Hint } from '../../ui/two-lines.tsx';
import { Assignee, Due, StatusBadge } from '../badges.tsx';
import { correctionDraftName, ErasedNotice, wasInterrupted } from '../draft.tsx';
import { type AnyReturn, describeStatus, KIND_OF, type Kind, REPAIRS, TRADE_RETURNS } from '../kinds.ts';
import type { StaffMove } from '../moves/moves.ts';
import { ReturnMoves } from '../moves/return-moves.tsx';
import { detailQuery, timelineQuery } from '../queries.ts';
import styles from './detail.module.css';
import { Lead, Summary, type SummaryPart } from './facts.tsx';
import { ReturnTimeline } from './timeline.tsx';
import { WalkBar } from './walk-bar.tsx';

const AddNote = lazyPart(
  async () => (await import('./detail-forms.tsx')).AddNote,
  () => <Skeleton height={74} />,
);
const AssigneePicker = lazyPart(
  async () => (await import('../person-select.tsx')).AssigneePicker,
  ({ item }) => <Lead>{item.assignee?.name ?? 'Unassigned'}</Lead>,
);
const CorrectDialog = lazyPart(async () => (await import('./detail-forms.tsx')).CorrectDialog);

interface Props<Item> {
  kind: Kind;
  id: string;
  moves: readonly StaffMove<Item>[];
  summary(item: Item): SummaryPart[];
  warning?: (item: Item) => ReactNode;
  facts(item: Item): ReactNode;
  /** What this kind's menu has beside the moves. */
  more?: (item: Item) => MenuAction[];
}

export const ReturnDetail = <Item extends AnyReturn>(props: Props<Item>) => {
  const { kind, id, moves, summary, warning, facts, more } = props;
  const detail = useQuery(detailQuery<Item>(kind, id));
  const item = detail.data;
  return (
    <Stack gap="md" pb="xl" maw={1250}>
      <WalkBar kind={kind} id={id} />
      {isNotFound(detail.error) ? (
        <NotFound kind={kind} />
      ) : (
        <QueryError
          query={detail}
          title={`This ${kind.one} could not be read`}
          stale="This may be out of date"
        />
      )}
      {item && !isNotFound(detail.error) ? (
        <>
          <Heading kind={kind} item={item} moves={moves} more={more?.(item) ?? []} />
          {item.erasedAt ? <ErasedNotice id={id} erasedAt={item.erasedAt} /> : null}
          <Summary parts={[...summary(item), assigneePart(kind, item)]} />
          {warning?.(item)}
          <Grid gap="md">
            <Grid.Col span={{ base: 12, lg: 7 }}>
              <Stack gap="md">
                {facts(item)}
                <Related kind={kind} item={item} />
              </Stack>
            </Grid.Col>
            <Grid.Col span={{ base: 12, lg: 5 }}>
              <TimelineCard kind={kind} item={item} />
            </Grid.Col>
          </Grid>
        </>
      ) : detail.isPending ? (
        <LoadingDetail />
      ) : null}
    </Stack>
  );
};

const assigneePart = (kind: Kind, item: AnyReturn): SummaryPart => ({
  label: 'Assigned to',
  icon: UserRoundCheck,
  lines: [
    item.erasedAt === null ? (
      <AssigneePicker key={item.id} kind={kind} item={item} />
    ) : (
      <Assignee key={item.id} person={item.assignee} />
    ),
  ],
});

const isNotFound = (error: Error | null): boolean => error instanceof ApiError && error.status === 404;

const NotFound = ({ kind }: { kind: Kind }) => (
  <>
    <PageTitle>{`There is no such ${kind.one}`}</PageTitle>
    <Text c="dimmed">The link may be incomplete, or meant for another shop.</Text>
  </>
);

interface HeadingProps<Item> {
  kind: Kind;
  item: Item;
  moves: readonly StaffMove<Item>[];
  more: readonly MenuAction[];
}

const Heading = <Item extends AnyReturn>({ kind, item, moves, more }: HeadingProps<Item>) => {
  const { id, rmaNumber, status, erasedAt } = item;
  const { user } = useSession();
  const { changing } = useBlocked();
  const [correcting, setCorrecting] = useState(() => wasInterrupted(correctionDraftName(id), user.id));
  return (
    <div className={styles['heading']}>
      <div>
        <Group gap="xs">
          <PageTitle>{rmaNumber}</PageTitle>
          <CopyButton text={rmaNumber} what={rmaNumber} variant="subtle" size="md" />
          <StatusBadge status={status} size="lg" />
        </Group>
        <Age item={item} />
      </div>
      <Group gap="xs" className="not-printed">
        {erasedAt === null ? (
          <ReturnMoves
            kind={kind}
            item={item}
            moves={moves}
            more={[
              ...more,
              {
                label: 'Correct details',
                icon: <PencilLine size={14} aria-hidden />,
                blocked: changing,
                run: () => setCorrecting(true),
              },
            ]}
          />
        ) : null}
        <ButtonLink
          to="/print"
          search={{ kind: kind.path.slice(1), ids: id }}
          variant="default"
          leftSection={<Printer size={16} aria-hidden />}
        >
          Print slip
        </ButtonLink>
      </Group>
      {correcting && erasedAt === null ? (
        <CorrectDialog kind={kind} item={item} onClose={() => setCorrecting(false)} />
      ) : null}
    </div>
  );
};

const Age = ({ item: { createdAt, statusSince, updatedAt, status, dueAt } }: { item: AnyReturn }) => (
  <Hint>
    Created <RelativeTime at={createdAt} />, {describeStatus(status).label.toLowerCase()} for{' '}
    {formatSpan(Date.parse(statusSince), Date.now())}, last changed <RelativeTime at={updatedAt} />
    {dueAt === null ? null : (
      <>
        {' · '}
        <Due dueAt={dueAt} />
      </>
    )}
  </Hint>
);

const TimelineCard = ({ kind, item: { id, erasedAt } }: { kind: Kind; item: AnyReturn }) => {
  const timeline = useQuery(timelineQuery(kind, id));
  return (
    <Section title="Timeline">
      <Stack gap="lg">
        {erasedAt === null ? <AddNote kind={kind} id={id} /> : null}
        <QueryError query={timeline} title="The timeline could not be read" />
        {timeline.isPending ? <Skeleton height={160} /> : null}
        {timeline.data ? <ReturnTimeline entries={timeline.data} /> : null}
      </Stack>
    </Section>
  );
};

const LoadingDetail = () => (
  <Stack gap="md" role="status" aria-label="Loading">
    <Skeleton height={48} maw={420} />
    <Skeleton height={96} />
    <Skeleton height={320} />
  </Stack>
);

const relatedQuery = (kind: Kind, id: string) =>
  queryOptions({
    queryKey: [kind.path, id, 'related'],
    queryFn: () => api.get<RelatedReturns>(`${kind.path}/${encodeURIComponent(id)}/related`),
    staleTime: 60_000,
  });

const noneText = (kind: Kind, serial: string | null, isErased: boolean): string => {
  const known = [
    ...(kind === TRADE_RETURNS ? ['company'] : []),
    ...(serial ? ['serial number'] : []),
    ...(isErased ? [] : ['customer']),
  ];
  return known.length === 0 ? 'The customer is not known any more.' : `None of this ${known.join(' or ')}.`;
};

const Related = ({ kind, item }: { kind: Kind; item: AnyReturn }) => {
  const related = useQuery(relatedQuery(kind, item.id));
  const { data } = related;
  const serial = 'faultyItem' in item ? item.faultyItem.serialNumber : null;
  return (
    <Section title="Earlier returns">
      <QueryError query={related} title="Earlier returns could not be read" />
      {related.isPending ? <Skeleton height={64} /> : null}
      {data && data.sameSerial.total + data.sameCustomer.total === 0 ? (
        <Hint>{noneText(kind, serial, item.erasedAt !== null)}</Hint>
      ) : null}
      {data && serial ? (
        <RelatedGroup title="Of this serial number" kind={REPAIRS} search={serial} found={data.sameSerial} />
      ) : null}
      {data ? (
        <RelatedGroup
          title={kind === TRADE_RETURNS ? 'Of this company or customer' : 'Of this customer'}
          kind={kind}
          search={item.erasedAt && 'companyName' in item ? item.companyName : item.customerEmail}
          found={withoutRepeats(data)}
        />
      ) : null}
    </Section>
  );
};

/** What the first group shows already is not shown again. */
const withoutRepeats = ({ sameSerial, sameCustomer }: RelatedReturns): RelatedReturns['sameCustomer'] => {
  const shown = new Set(sameSerial.items.map(({ id }) => id));
  const items = sameCustomer.items.filter(({ id }) => !shown.has(id));
  return items.length === 0 ? { items, total: 0 } : { ...sameCustomer, items };
};

interface RelatedGroupProps {
  title: string;
  kind: Kind;
  /** What finds all of them in the list. */
  search: string;
  found: RelatedReturns['sameSerial'];
}

const RelatedGroup = ({ title, kind, search, found: { items, total } }: RelatedGroupProps) => {
  if (total === 0) return null;
  return (
    <section>
      <Text component="h4" size="xs" fw={600} c="dimmed" mt="xs" mb={2}>
        {title}
      </Text>
      <ul className={styles['related']}>
        {items.map((each) => (
          <li key={each.id}>
            <Link to={KIND_OF[each.kind].detail} params={{ id: each.id }} preload={false}>
              <span className={styles['number']}>{each.rmaNumber}</span>
              <span className={styles['title']} title={each.title} dir="auto">
                {each.title}
              </span>
              <StatusBadge status={each.status} size="sm" />
            </Link>
          </li>
        ))}
      </ul>
      {total > items.length ? (
        <TextLink to={kind.path} search={{ q: search }} size="sm">
          All {total.toLocaleString()}
        </TextLink>
      ) : null}
    </section>
  );
};
