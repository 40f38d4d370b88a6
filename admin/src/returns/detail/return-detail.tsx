import { Skeleton, Stack, Text } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Hourglass, PencilLine, Printer } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { RelatedReturns } from '../../../../contract/admin-returns.ts';
import { ApiError, api } from '../../api.ts';
import { useBlocked } from '../../session/blocked.tsx';
import { useSession } from '../../session/session.ts';
import { texts } from '../../texts.ts';
import type { MenuAction } from '../../ui/action-menu.tsx';
import { CopyButton } from '../../ui/copy-fields.tsx';
import { lazyPart } from '../../ui/lazy.tsx';
import { ButtonLink, TextLink } from '../../ui/links.tsx';
import { Stripe } from '../../ui/mark.tsx';
import { PageTitle, Section, SlowHint } from '../../ui/page-frame.tsx';
import { QueryError } from '../../ui/query-view.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { code128Widths } from '../../ui/slip/code128.ts';
import { Hint } from '../../ui/two-lines.tsx';
import { AssigneePicker } from '../assignee-picker.tsx';
import { Assignee, Due, StatusBadge } from '../badges.tsx';
import { correctionDraftName, ErasedNotice, wasInterrupted } from '../draft.tsx';
import {
  type AnyReturn,
  describeStatus,
  isEnded,
  isPartlyReceived,
  KIND_OF,
  type Kind,
  ofKnownKinds,
  REPAIRS,
  TRADE_RETURNS,
} from '../kinds.ts';
import type { StaffMove } from '../moves/moves.ts';
import { type MovesProps, ReturnMoves } from '../moves/return-moves.tsx';
import { WaitingLine } from '../moves/waiting-line.tsx';
import { detailQuery, timelineQuery } from '../queries.ts';
import styles from './detail.module.css';
import { Summary, type SummaryPart } from './facts.tsx';
import { ReturnTimeline } from './timeline.tsx';
import { WalkBar } from './walk-bar.tsx';

const words = texts.detail;

const AddNote = lazyPart(
  async () => (await import('./detail-forms.tsx')).AddNote,
  () => <Skeleton height={74} />,
);
const WaitingDialog = lazyPart(async () => (await import('../moves/waiting.tsx')).WaitingDialog);
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
    <div className={styles['page']}>
      <WalkBar kind={kind} id={id} />
      {isNotFound(detail.error) ? (
        <NotFound kind={kind} />
      ) : (
        <QueryError query={detail} title={words.notRead(kind.one)} stale={words.stale} />
      )}
      {item && !isNotFound(detail.error) ? (
        <>
          <Heading kind={kind} item={item} moves={moves} more={more?.(item) ?? []} />
          <Age item={item} />
          {item.waitingFor ? <WaitingLine kind={kind} item={item} /> : null}
          {item.erasedAt ? <ErasedNotice id={id} erasedAt={item.erasedAt} /> : null}
          <Summary parts={[...summary(item), assigneePart(kind, item)]} />
          {warning?.(item)}
          <div className={styles['columns']}>
            <Stack gap="md" miw={0}>
              {facts(item)}
              <Related kind={kind} item={item} />
            </Stack>
            <div>
              <TimelineSection kind={kind} item={item} />
            </div>
          </div>
        </>
      ) : detail.isPending ? (
        <LoadingDetail />
      ) : null}
    </div>
  );
};

const assigneePart = (kind: Kind, item: AnyReturn): SummaryPart => ({
  label: words.assignedTo,
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
    <PageTitle>{words.notFound(kind.one)}</PageTitle>
    <Text c="dimmed">{words.notFoundHint}</Text>
  </>
);

/** Number and status at the left, the actions at the right, where they stay while the page scrolls. */
const Heading = <Item extends AnyReturn>({ kind, item, moves, more }: MovesProps<Item>) => {
  const { id, rmaNumber, status, erasedAt, dueAt } = item;
  const { user } = useSession();
  const blocked = useBlocked();
  const [correcting, setCorrecting] = useState(() => wasInterrupted(correctionDraftName(id), user.id));
  const [waiting, setWaiting] = useState(false);
  const wait = {
    label: texts.waiting.menu,
    icon: <Hourglass size={14} />,
    blocked,
    run: () => setWaiting(true),
  };
  const correct = {
    label: words.correct,
    icon: <PencilLine size={14} />,
    blocked,
    run: () => setCorrecting(true),
  };
  return (
    <div className={styles['heading']}>
      <div className={styles['name']}>
        {/* The bars that its slip has. */}
        <Stripe className={styles['bars']} widths={code128Widths(rmaNumber)} />
        <PageTitle className={styles['number'] ?? ''}>{rmaNumber}</PageTitle>
        <CopyButton text={rmaNumber} what={rmaNumber} variant="subtle" size="md" />
        <StatusBadge status={status} isPartly={isPartlyReceived(item)} size="lg" />
        <Due dueAt={dueAt} />
      </div>
      <div className={`${styles['actions']} not-printed`}>
        {erasedAt === null ? (
          <ReturnMoves
            kind={kind}
            item={item}
            moves={moves}
            more={[...more, ...(isEnded(status) ? [] : [wait]), correct]}
          />
        ) : null}
        <ButtonLink
          to="/print"
          search={{ kind: kind.path.slice(1), ids: id }}
          variant="default"
          className={styles['print'] ?? ''}
          leftSection={<Printer />}
        >
          {words.print}
        </ButtonLink>
      </div>
      {waiting ? <WaitingDialog kind={kind} items={[item]} onClose={() => setWaiting(false)} /> : null}
      {correcting && erasedAt === null ? (
        <CorrectDialog kind={kind} item={item} onClose={() => setCorrecting(false)} />
      ) : null}
    </div>
  );
};

/** Where the status says what goes on, not what happened. */
const SINCE: Record<string, string> = {
  OFFLINE_DIAGNOSTICS: words.diagnosticsStarted,
  OFFLINE_REPAIR: words.repairStarted,
};

const Age = ({ item: { createdAt, statusSince, updatedAt, status } }: { item: AnyReturn }) => (
  <p className={styles['age']}>
    {words.created} <RelativeTime at={createdAt} />
    {statusSince === createdAt ? null : (
      <>
        {` · ${SINCE[status] ?? describeStatus(status).label} `}
        <RelativeTime at={statusSince} />
      </>
    )}
    {updatedAt === statusSince ? null : (
      <>
        {` · ${words.updated} `}
        <RelativeTime at={updatedAt} />
      </>
    )}
  </p>
);

const TimelineSection = ({ kind, item: { id, erasedAt } }: { kind: Kind; item: AnyReturn }) => {
  const timeline = useQuery(timelineQuery(kind, id));
  return (
    <Section title={words.timeline}>
      <Stack gap="md">
        {erasedAt === null ? <AddNote kind={kind} id={id} /> : null}
        <QueryError query={timeline} title={words.timelineNotRead} />
        {timeline.isPending ? <Skeleton height={160} /> : null}
        {timeline.data ? <ReturnTimeline entries={timeline.data} /> : null}
      </Stack>
    </Section>
  );
};

const LoadingDetail = () => (
  <Stack gap="md" role="status" aria-label={texts.common.loading}>
    <Skeleton height={32} maw={420} />
    <Skeleton height={96} />
    <Skeleton height={320} />
    <SlowHint />
  </Stack>
);

const relatedQuery = (kind: Kind, id: string) =>
  queryOptions({
    queryKey: [kind.path, id, 'related'],
    queryFn: ({ signal }) =>
      api.get<RelatedReturns>(`${kind.path}/${encodeURIComponent(id)}/related`, {}, signal),
    staleTime: 60_000,
  });

const Related = ({ kind, item }: { kind: Kind; item: AnyReturn }) => {
  const related = useQuery(relatedQuery(kind, item.id));
  const { data } = related;
  const serial = 'faultyItem' in item ? item.faultyItem.serialNumber : null;
  return (
    <Section title={words.earlier}>
      <QueryError query={related} title={words.earlierNotRead} />
      {related.isPending ? <Skeleton height={64} /> : null}
      {data && data.sameSerial.total + data.sameCustomer.total === 0 ? <Hint>{words.noEarlier}</Hint> : null}
      {data && serial ? (
        <RelatedGroup title={words.ofSerial} kind={REPAIRS} search={serial} found={data.sameSerial} />
      ) : null}
      {data ? (
        <RelatedGroup
          title={kind === TRADE_RETURNS ? words.ofCompany : words.ofCustomer}
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
      <Text component="h4" size="xs" fw={500} c="dimmed" mt="xs" mb={2}>
        {title}
      </Text>
      <ul className={styles['related']}>
        {ofKnownKinds(items).map((each) => (
          <li key={each.id}>
            <Link to={KIND_OF[each.kind].detail} params={{ id: each.id }} preload={false}>
              <span className={`${styles['related-number']} code`}>{each.rmaNumber}</span>
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
          {words.allOf(total)}
        </TextLink>
      ) : null}
    </section>
  );
};
