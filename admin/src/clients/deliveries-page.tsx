import { Alert, Button, EmptyState, Group, NativeSelect } from '@mantine/core';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ArrowLeft, KeyRound, RefreshCw, Send } from 'lucide-react';
import type { z } from 'zod';
import {
  type ApiClientView,
  type Delivery,
  type DeliveryList,
  DeliveryQuery,
} from '../../../contract/admin.ts';
import { api } from '../api.ts';
import type { ListSearch } from '../list-search.ts';
import { clientsQuery } from '../shop-queries.ts';
import { TextLink } from '../ui/links.tsx';
import { PagedList } from '../ui/list-pager.tsx';
import { PageFrame } from '../ui/page-frame.tsx';
import { ErrorAlert, QueryView } from '../ui/query-view.tsx';
import { hasEnded, keyEnd, unusualRights } from './client-state.tsx';
import { DELIVERY_STATUSES, DeliveriesTable } from './deliveries-table.tsx';

const { status: Status, event: Event } = DeliveryQuery.shape;

type Filters = { status: z.infer<typeof Status>; event: z.infer<typeof Event> };

/** Filters from the address; a value that the API would refuse is ignored. */
const filtersIn = ({ status, event }: ListSearch): Filters => ({
  status: Status.safeParse(status).data,
  event: Event.safeParse(event).data,
});

const ALL = { value: '', label: 'All' };
const CHOICES = {
  status: Status.unwrap().options.map((value) => ({ value, label: DELIVERY_STATUSES[value].label })),
  event: Event.unwrap().options.map((value) => ({ value, label: value })),
};

interface FilterProps {
  filters: Filters;
  onChange(change: Pick<ListSearch, 'status' | 'event'>): void;
  onClear(): void;
}

const DeliveryFilters = ({ filters, onChange, onClear }: FilterProps) => (
  <Group align="flex-end" gap="sm">
    {(['status', 'event'] as const).map((name) => (
      <NativeSelect
        key={name}
        label={name === 'status' ? 'Status' : 'Event'}
        value={filters[name] ?? ''}
        onChange={({ currentTarget: { value } }) => onChange({ [name]: value || undefined })}
        data={[ALL, ...CHOICES[name]]}
      />
    ))}
    {filters.status || filters.event ? (
      <Button variant="subtle" onClick={onClear}>
        Clear filters
      </Button>
    ) : null}
  </Group>
);

const route = getRouteApi('/inside/settings/external-api/$id');
const REFETCH_MS = 5_000;

export const DeliveriesPage = () => {
  const { id } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filters = filtersIn(search);
  const deliveries = useDeliveries(id, { page: search.page ?? 1, ...filters });
  const { data: clients } = useQuery(clientsQuery);
  const client = clients?.items.find((one) => one.id === id);
  const show = (next: ListSearch) => void navigate({ search: next });

  const test = useMutation({
    mutationFn: () => api.post<Delivery>(`${pathOf(id)}/test-event`),
    onSuccess: () => deliveries.refetch(),
  });
  return (
    <PageFrame
      title={client ? `Deliveries to ${client.name}` : 'Deliveries'}
      backLink={
        <TextLink to="/settings/external-api" size="sm">
          <ArrowLeft size={14} aria-hidden style={{ verticalAlign: '-2px' }} /> External API
        </TextLink>
      }
      intro={client ? introOf(client) : undefined}
      actions={
        <>
          <RefreshButton refetch={deliveries.refetch} />
          {client?.webhookUrl && !hasEnded(client) ? (
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
      {client ? <KeyNotice client={client} /> : null}
      {test.error ? <ErrorAlert title="The test event was not sent" error={test.error} /> : null}
      <DeliveryFilters
        filters={filters}
        onChange={(change) => show({ ...search, ...change, page: undefined })}
        onClear={() => show({})}
      />
      <QueryView query={deliveries}>
        {(list) => (
          <PagedList
            list={list}
            noun={['delivery', 'deliveries']}
            onPage={(page) => show({ ...search, page: page > 1 ? page : undefined })}
            empty={<NothingSent isFiltered={Boolean(filters.status || filters.event)} />}
          >
            <DeliveriesTable deliveries={list.items} />
          </PagedList>
        )}
      </QueryView>
    </PageFrame>
  );
};

/** Busy only when it was clicked, not when the list refreshes by itself. */
const RefreshButton = ({ refetch }: { refetch(): Promise<unknown> }) => {
  const refresh = useMutation({ mutationFn: () => refetch() });
  return (
    <Button
      variant="default"
      leftSection={<RefreshCw size={16} aria-hidden />}
      loading={refresh.isPending}
      onClick={() => refresh.mutate()}
    >
      Refresh
    </Button>
  );
};

const pathOf = (id: string): string => `/clients/${encodeURIComponent(id)}`;

const useDeliveries = (id: string, query: ReturnType<typeof filtersIn> & { page: number }) =>
  useQuery({
    queryKey: ['clients', id, 'deliveries', query],
    queryFn: () => api.get<z.infer<typeof DeliveryList>>(`${pathOf(id)}/deliveries`, query),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.items.some((delivery) => delivery.status === 'PENDING') ? REFETCH_MS : false,
  });

const KeyNotice = ({ client }: { client: ApiClientView }) => {
  const end = keyEnd(client);
  return end ? (
    <Alert color={client.keyStatus === 'EXPIRED' ? 'red' : 'yellow'} icon={<KeyRound aria-hidden />}>
      {end}{' '}
      {client.replacedBy
        ? 'Events go to the client that took its place.'
        : 'To let the program go on, edit the client and choose a later day, or replace it.'}
    </Alert>
  ) : null;
};

const introOf = (client: ApiClientView): string => {
  const rights = unusualRights(client.rights);
  return rights ? `${whatIsSent(client)} Rights: ${rights}.` : whatIsSent(client);
};

const whatIsSent = ({ webhookUrl, revokedAt, replacedBy }: ApiClientView): string => {
  if (replacedBy)
    return 'This client was replaced: what it had waiting, and all that follows, goes to the client that took its place. Deliveries are kept for 30 days.';
  if (revokedAt)
    return 'This client is revoked: nothing more is sent to it. Deliveries are kept for 30 days.';
  if (!webhookUrl) return 'This client has no webhook URL, so nothing is sent to it at present.';
  return `Events go to ${webhookUrl}. Each is tried up to four times; deliveries are kept for 30 days.`;
};

const NothingSent = ({ isFiltered }: { isFiltered: boolean }) => (
  <EmptyState
    py="xl"
    icon={<Send aria-hidden />}
    title={isFiltered ? 'Nothing fits these filters' : 'Nothing has been sent yet'}
    description={
      isFiltered
        ? 'Choose other ones, or clear them.'
        : 'Events show here as soon as something happens to a return this client made.'
    }
  />
);
