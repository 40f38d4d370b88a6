import { Button, EmptyState, Group, NativeSelect, Text } from '@mantine/core';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ArrowLeft, RefreshCw, Send } from 'lucide-react';
import { useState } from 'react';
import { z } from 'zod';
import {
  type ApiClientList,
  type ApiClientView,
  type Delivery,
  type DeliveryList,
  DeliveryQuery,
} from '../../../contract/admin.ts';
import { api } from '../api.ts';
import type { ListSearch } from '../list-search.ts';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { TextLink } from '../ui/links.tsx';
import { ListPager } from '../ui/list-pager.tsx';
import { PageFrame } from '../ui/page-frame.tsx';
import { PastEnd } from '../ui/past-end.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { SecondLine } from '../ui/second-line.tsx';
import { clientsKey } from './client-dialogs.tsx';
import { DELIVERY_STATUSES, DeliveryDetails, DeliveryStatus, outcomeOf } from './delivery-details.tsx';

const route = getRouteApi('/inside/settings/external-api/$id');
const REFETCH_MS = 5_000;

const { status: Status, event: Event } = DeliveryQuery.shape;

export const DeliveriesPage = () => {
  const { id } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  // What the address may hold by mistake is no filter.
  const status = Status.safeParse(search.status).data;
  const event = Event.safeParse(search.event).data;
  const page = search.page ?? 1;
  const [asked, setAsked] = useState(false);

  const deliveries = useQuery({
    queryKey: ['clients', id, 'deliveries', { page, status, event }],
    queryFn: () =>
      api.get<z.infer<typeof DeliveryList>>(`/clients/${encodeURIComponent(id)}/deliveries`, {
        page,
        status,
        event,
      }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.items.some((delivery) => delivery.status === 'PENDING') ? REFETCH_MS : false,
  });
  const clients = useQuery({
    queryKey: clientsKey,
    queryFn: () => api.get<z.infer<typeof ApiClientList>>('/clients'),
  });
  const client = clients.data?.items.find((one) => one.id === id);

  const show = (next: ListSearch) => void navigate({ search: next });
  const refresh = async () => {
    setAsked(true);
    await deliveries.refetch();
    setAsked(false);
  };

  /** It shows up in the list like any other delivery. */
  const test = useMutation({
    mutationFn: () => api.post<Delivery>(`/clients/${encodeURIComponent(id)}/test-event`),
    onSuccess: () => deliveries.refetch(),
  });

  return (
    <PageFrame
      title={client ? `Deliveries to ${client.name}` : 'Deliveries'}
      above={
        <TextLink to="/settings/external-api" size="sm">
          <ArrowLeft size={14} aria-hidden style={{ verticalAlign: '-2px' }} /> External API
        </TextLink>
      }
      lead={client ? leadOf(client) : undefined}
      actions={
        <>
          <Button
            variant="default"
            leftSection={<RefreshCw size={16} aria-hidden />}
            loading={asked}
            onClick={refresh}
          >
            Refresh
          </Button>
          {client?.webhookUrl && client.revokedAt === null ? (
            <Button
              leftSection={<Send size={16} aria-hidden />}
              loading={test.isPending}
              onClick={() => test.mutate()}
            >
              Send test event
            </Button>
          ) : null}
        </>
      }
    >
      {test.error ? <ErrorAlert title="The test event was not sent" error={test.error} /> : null}
      <Group align="flex-end" gap="sm">
        <NativeSelect
          label="Status"
          value={status ?? ''}
          onChange={({ currentTarget }) =>
            show({ ...search, status: currentTarget.value || undefined, page: undefined })
          }
          data={[
            { value: '', label: 'All' },
            ...Status.unwrap().options.map((value) => ({ value, label: DELIVERY_STATUSES[value].label })),
          ]}
        />
        <NativeSelect
          label="Event"
          value={event ?? ''}
          onChange={({ currentTarget }) =>
            show({ ...search, event: currentTarget.value || undefined, page: undefined })
          }
          data={[{ value: '', label: 'All' }, ...Event.unwrap().options]}
        />
        {status || event ? (
          <Button variant="subtle" onClick={() => show({})}>
            Clear filters
          </Button>
        ) : null}
      </Group>
      <QueryView query={deliveries}>
        {(list) =>
          list.items.length === 0 && list.total > 0 ? (
            <PastEnd
              there={`${list.total.toLocaleString()} deliveries`}
              onFirst={() => show({ ...search, page: undefined })}
            />
          ) : list.items.length === 0 ? (
            <Nothing filtered={Boolean(status || event)} />
          ) : (
            <>
              <DataTable
                caption="Deliveries, newest first"
                columns={COLUMNS}
                rows={list.items}
                nameOf={(delivery) => `${delivery.event} for ${rmaNumberOf(delivery)}`}
                details={(delivery) => <DeliveryDetails delivery={delivery} />}
              />
              <ListPager
                list={list}
                things={['delivery', 'deliveries']}
                onPage={(next) => show({ ...search, page: next > 1 ? next : undefined })}
              />
            </>
          )
        }
      </QueryView>
    </PageFrame>
  );
};

const leadOf = ({ webhookUrl, revokedAt }: ApiClientView): string => {
  if (revokedAt)
    return 'This client is revoked: nothing more is sent to it. Deliveries are kept for 30 days.';
  if (!webhookUrl) return 'This client has no webhook URL, so nothing is sent to it at present.';
  return `Events go to ${webhookUrl}. Each is tried up to four times; deliveries are kept for 30 days.`;
};

const Nothing = ({ filtered }: { filtered: boolean }) => (
  <EmptyState
    py="xl"
    icon={<Send aria-hidden />}
    title={filtered ? 'Nothing fits these filters' : 'Nothing has been sent yet'}
    description={
      filtered
        ? 'Choose other ones, or clear them.'
        : 'Events show here as soon as something happens to a return this client made.'
    }
  />
);

const AboutRma = z.object({ data: z.object({ rmaNumber: z.string() }) });
const rmaNumberOf = ({ payload }: Delivery): string =>
  AboutRma.safeParse(payload).data?.data.rmaNumber ?? 'RMA';

const COLUMNS: [Column<Delivery>, ...Column<Delivery>[]] = [
  { head: 'Event', cell: ({ event }) => event, width: '32%' },
  {
    head: 'Return',
    firm: true,
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
  { head: 'Since', firm: true, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
  {
    head: 'Status',
    cell: (delivery) => (
      <>
        <DeliveryStatus status={delivery.status} />
        <LastOutcome delivery={delivery} />
      </>
    ),
    width: '24%',
  },
  {
    head: 'Attempts',
    cell: ({ attempts }) => (
      <Text span inherit>
        {attempts.length}
      </Text>
    ),
  },
];

/** Why it is not there yet, or never will be. */
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
