import { Badge, Box, Code, Stack, Text, Title } from '@mantine/core';
import { Check, Clock, X } from 'lucide-react';
import { useId } from 'react';
import { z } from 'zod';
import type { Delivery } from '../../../contract/admin.ts';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { TextLink } from '../ui/links.tsx';
import { PlainTable } from '../ui/plain-table.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { SecondLine } from '../ui/two-lines.tsx';

type Attempt = Delivery['attempts'][number];

export const DELIVERY_STATUSES = {
  PENDING: { label: 'Waiting', color: 'blue', icon: Clock },
  DELIVERED: { label: 'Delivered', color: 'green', icon: Check },
  DROPPED: { label: 'Dropped', color: 'red', icon: X },
} as const satisfies Record<Delivery['status'], object>;

const DeliveryStatus = ({ status }: Pick<Delivery, 'status'>) => {
  const { label, color, icon: Icon } = DELIVERY_STATUSES[status];
  return (
    <Badge variant="light" color={color} leftSection={<Icon size={12} aria-hidden />}>
      {label}
    </Badge>
  );
};

/** With seconds, because attempts follow each other that closely. */
const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const formatDuration = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

const outcomeOf = ({ statusCode, error }: Pick<Attempt, 'statusCode' | 'error'>): string => {
  if (error) return error.charAt(0).toUpperCase() + error.slice(1);
  if (statusCode === null) return 'No answer';
  if (statusCode >= 200 && statusCode < 300) return 'Acknowledged';
  if (statusCode >= 300 && statusCode < 400) return 'Answered with a redirect, which is not followed';
  return statusCode >= 500 ? 'The receiver failed' : 'The receiver refused it';
};

const statusText = ({ status, nextAttemptAt, reason }: Delivery): string | null => {
  if (nextAttemptAt) {
    const seconds = Math.ceil((Date.parse(nextAttemptAt) - Date.now()) / 1000);
    return seconds <= 0 ? 'The next attempt is due now.' : `The next attempt follows in ${seconds} s.`;
  }
  if (status !== 'DROPPED') return null;
  const why = reason ? `Dropped: ${reason}.` : 'Dropped.';
  return `${why} It is not sent again. The program can catch up by reading the lists with updatedSince.`;
};

const DeliveryDetails = ({ delivery }: { delivery: Delivery }) => {
  const id = useId();
  const text = statusText(delivery);
  return (
    <Stack gap="sm" pb="sm">
      <Title order={3} size="h5" id={`${id}attempts`}>
        Attempts
      </Title>
      {delivery.attempts.length === 0 ? null : (
        <Attempts attempts={delivery.attempts} labelledBy={`${id}attempts`} />
      )}
      {text ? <Text size="sm">{text}</Text> : null}
      <Title order={3} size="h5" id={`${id}payload`}>
        What is sent
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
        { header: 'No.', cell: (attempt) => attempts.indexOf(attempt) + 1 },
        {
          header: 'Time',
          cell: ({ at }) => <time dateTime={at}>{timeFormat.format(new Date(at))}</time>,
        },
        { header: 'Answer', cell: ({ statusCode }) => statusCode ?? 'None' },
        { header: 'Took', cell: ({ durationMs }) => formatDuration(durationMs) },
        { header: 'What happened', cell: outcomeOf },
      ]}
    />
  </Box>
);

export const DeliveriesTable = ({ deliveries }: { deliveries: readonly Delivery[] }) => (
  <DataTable
    caption="Deliveries, newest first"
    columns={COLUMNS}
    rows={deliveries}
    nameOf={(delivery) => `${delivery.event} for ${rmaNumberOf(delivery)}`}
    details={(delivery) => <DeliveryDetails delivery={delivery} />}
  />
);

const RmaPayload = z.object({ data: z.object({ rmaNumber: z.string() }) });
const rmaNumberOf = ({ payload }: Delivery): string =>
  RmaPayload.safeParse(payload).data?.data.rmaNumber ?? 'RMA';

const COLUMNS: [Column<Delivery>, ...Column<Delivery>[]] = [
  { header: 'Event', cell: ({ event }) => event, width: '32%' },
  {
    header: 'Return',
    noWrap: true,
    cell: (delivery) =>
      delivery.rmaId === null ? (
        'none'
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
  { header: 'Since', noWrap: true, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
  {
    header: 'Status',
    cell: (delivery) => (
      <>
        <DeliveryStatus status={delivery.status} />
        <LastOutcome delivery={delivery} />
      </>
    ),
    width: '24%',
  },
  {
    header: 'Attempts',
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
      {outcomeOf(last)}
      {last.statusCode === null ? '' : ` (${last.statusCode})`}
    </SecondLine>
  );
};
