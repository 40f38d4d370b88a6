import { Text } from '@mantine/core';
import { z } from 'zod';
import type { Delivery } from '../../../contract/admin.ts';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { TextLink } from '../ui/links.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { SecondLine } from '../ui/second-line.tsx';
import { DeliveryDetails, DeliveryStatus, outcomeOf } from './delivery-details.tsx';

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

/** Why the delivery is late, or was dropped. */
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
