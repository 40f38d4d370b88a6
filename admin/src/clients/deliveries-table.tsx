import { Box, Code, Stack, Text, Title } from '@mantine/core';
import { useId } from 'react';
import { z } from 'zod';
import type { Delivery } from '../../../contract/admin.ts';
import { dateFormat } from '../format.ts';
import { texts } from '../texts.ts';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { Dot } from '../ui/dot.tsx';
import { TextLink } from '../ui/links.tsx';
import { useNow } from '../ui/now.ts';
import { PlainTable } from '../ui/plain-table.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { SecondLine } from '../ui/two-lines.tsx';

import { unknownState } from './client-state.tsx';
import { fullEventLabel } from './event-label.ts';

const t = texts.clients;

type Attempt = Delivery['attempts'][number];

export const DELIVERY_STATUSES = {
  PENDING: { label: t.statuses.PENDING, color: 'blue' },
  DELIVERED: { label: t.statuses.DELIVERED, color: 'green' },
  DROPPED: { label: t.statuses.DROPPED, color: 'red' },
} as const satisfies Record<Delivery['status'], object>;

/** With seconds, because attempts follow each other that closely. */
const timeFormat = dateFormat({ dateStyle: 'medium', timeStyle: 'medium' });
const formatDuration = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

const outcomeOf = ({ statusCode, error }: Pick<Attempt, 'statusCode' | 'error'>): string => {
  if (error) return error.charAt(0).toUpperCase() + error.slice(1);
  if (statusCode === null) return t.outcomeNone;
  if (statusCode >= 200 && statusCode < 300) return t.outcomeOk;
  if (statusCode >= 300 && statusCode < 400) return t.outcomeRedirect;
  return statusCode >= 500 ? t.outcomeError : t.outcomeRefused;
};

const statusText = ({ status, nextAttemptAt, reason }: Delivery, nowMs: number): string | null => {
  if (nextAttemptAt) {
    const seconds = Math.ceil((Date.parse(nextAttemptAt) - nowMs) / 1000);
    return seconds <= 0 ? t.nextNow : t.nextIn(seconds);
  }
  if (status !== 'DROPPED') return null;
  return `${reason ? t.failedBecause(reason) : t.failedPlain} ${t.catchUp}`;
};

const A_SECOND_MS = 1_000;

const DeliveryDetails = ({ delivery }: { delivery: Delivery }) => {
  const id = useId();
  const text = statusText(delivery, useNow(A_SECOND_MS));
  return (
    <Stack gap="sm" pb="sm">
      <Title order={3} size="h5" id={`${id}attempts`}>
        {t.attempts}
      </Title>
      {delivery.attempts.length === 0 ? null : (
        <Attempts attempts={delivery.attempts} labelledBy={`${id}attempts`} />
      )}
      {text ? <Text size="sm">{text}</Text> : null}
      <Title order={3} size="h5" id={`${id}payload`}>
        {t.payload}
      </Title>
      <Code
        block
        tabIndex={0}
        role="region"
        aria-labelledby={`${id}payload`}
        mah={380}
        style={{ overflow: 'auto' }}
      >
        {JSON.stringify(delivery.payload, null, 2)}
      </Code>
    </Stack>
  );
};

const Attempts = ({ attempts, labelledBy }: { attempts: Attempt[]; labelledBy: string }) => (
  <Box tabIndex={0} role="region" aria-labelledby={labelledBy} style={{ overflowX: 'auto' }}>
    <PlainTable
      rows={attempts}
      keyOf={({ at }) => at}
      columns={[
        { header: t.attemptNo, cell: (attempt) => attempts.indexOf(attempt) + 1 },
        {
          header: t.attemptTime,
          cell: ({ at }) => <time dateTime={at}>{timeFormat.format(new Date(at))}</time>,
        },
        { header: t.attemptAnswer, cell: ({ statusCode }) => statusCode ?? t.noAnswer },
        { header: t.attemptTook, cell: ({ durationMs }) => formatDuration(durationMs) },
        { header: t.attemptOutcome, cell: outcomeOf },
      ]}
    />
  </Box>
);

export const DeliveriesTable = ({ deliveries }: { deliveries: readonly Delivery[] }) => (
  <DataTable
    caption={t.deliveriesCaption}
    columns={COLUMNS}
    rows={deliveries}
    nameOf={(delivery) => t.detailsOf(delivery.event, rmaNumberOf(delivery))}
    details={(delivery) => <DeliveryDetails delivery={delivery} />}
  />
);

const RmaPayload = z.object({ data: z.object({ rmaNumber: z.string() }) });
const rmaNumberOf = ({ payload }: Delivery): string =>
  RmaPayload.safeParse(payload).data?.data.rmaNumber ?? 'RMA';

const COLUMNS: [Column<Delivery>, ...Column<Delivery>[]] = [
  {
    header: t.event,
    cell: ({ event }) => (
      <>
        {fullEventLabel(event)}
        <SecondLine>
          <span className="code">{event}</span>
        </SecondLine>
      </>
    ),
    width: '33%',
  },
  {
    header: t.columnReturn,
    noWrap: true,
    cell: (delivery) =>
      delivery.rmaId === null ? (
        t.noReturn
      ) : (
        <TextLink
          to={delivery.event.startsWith('trade_return.') ? '/trade-returns/$id' : '/offline-repairs/$id'}
          params={{ id: delivery.rmaId }}
          inherit
        >
          {rmaNumberOf(delivery)}
        </TextLink>
      ),
  },
  { header: t.columnCreated, noWrap: true, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
  {
    header: t.status,
    cell: (delivery) => (
      <>
        <Dot {...(DELIVERY_STATUSES[delivery.status] ?? unknownState(delivery.status))} />
        <LastOutcome delivery={delivery} />
      </>
    ),
    width: '30%',
  },
  {
    header: t.columnAttempts,
    noWrap: true,
    cell: ({ attempts }) => (
      <Text span inherit>
        {attempts.length}
      </Text>
    ),
  },
];

const LastOutcome = ({ delivery: { status, attempts } }: { delivery: Delivery }) => {
  const last = attempts.at(-1);
  if (!last || status === 'DELIVERED') return null;
  return (
    <SecondLine>
      {last.statusCode === null ? outcomeOf(last) : t.outcomeWith(outcomeOf(last), last.statusCode)}
    </SecondLine>
  );
};
