import { Alert, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ArrowLeft, KeyRound, RefreshCw, Send } from 'lucide-react';
import { useState } from 'react';
import type { z } from 'zod';
import {
  type ApiClientView,
  type Delivery,
  type DeliveryList,
  DeliveryQuery,
} from '../../../contract/admin.ts';
import { api } from '../api.ts';
import { formatNumber } from '../format.ts';
import type { ListSearch } from '../list-search.ts';
import { clientsQuery } from '../shop-queries.ts';
import { texts } from '../texts.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { TextLink } from '../ui/links.tsx';
import { PagedList } from '../ui/list-pager.tsx';
import { PageFrame } from '../ui/page-frame.tsx';
import { ErrorAlert, QueryView } from '../ui/query-view.tsx';
import { CLIENT_DIALOGS } from './client-dialogs.tsx';
import { hasEnded, keyEnd, unusualRights } from './client-state.tsx';
import { DELIVERY_STATUSES, DeliveriesTable } from './deliveries-table.tsx';

import { fullEventLabel } from './event-label.ts';

const t = texts.clients;

const { status: Status, event: Event } = DeliveryQuery.shape;

type Filters = { status: z.infer<typeof Status>; event: z.infer<typeof Event> };

/** Filters from the address; a value that the API would refuse is ignored. */
const filtersIn = ({ status, event }: ListSearch): Filters => ({
  status: Status.safeParse(status).data,
  event: Event.safeParse(event).data,
});

const ALL = { value: '', label: t.all };
const CHOICES = {
  status: Status.unwrap().options.map((value) => ({ value, label: DELIVERY_STATUSES[value].label })),
  event: Event.unwrap().options.map((value) => ({
    value,
    label: t.eventAndName(fullEventLabel(value), value),
  })),
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
        label={name === 'status' ? t.status : t.event}
        value={filters[name] ?? ''}
        onChange={({ currentTarget: { value } }) => onChange({ [name]: value || undefined })}
        data={[ALL, ...CHOICES[name]]}
      />
    ))}
    {filters.status || filters.event ? (
      <Button variant="subtle" onClick={onClear}>
        {t.clearFilters}
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
  const isFiltered = Boolean(filters.status || filters.event);
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
      title={client ? t.deliveriesTo(client.name) : t.deliveries}
      backLink={
        <TextLink to="/settings/external-api" size="sm">
          <ArrowLeft size={14} style={{ verticalAlign: '-2px' }} /> {t.title}
        </TextLink>
      }
      intro={client ? introOf(client) : undefined}
      actions={
        <>
          <RefreshButton id={id} />
          {client?.webhookUrl && !hasEnded(client) ? (
            <Button leftSection={<Send />} loading={test.isPending} onClick={() => test.mutate()}>
              {t.sendTest}
            </Button>
          ) : null}
        </>
      }
    >
      {client ? <KeyNotice client={client} /> : null}
      {test.error ? <ErrorAlert title={t.testFailed} error={test.error} /> : null}
      {client ? <Failures client={client} onShow={() => show({ status: 'DROPPED' })} /> : null}
      {deliveries.data?.total === 0 && !isFiltered ? null : (
        <DeliveryFilters
          filters={filters}
          onChange={(change) => show({ ...search, ...change, page: undefined })}
          onClear={() => show({})}
        />
      )}
      <QueryView query={deliveries}>
        {(list) => (
          <PagedList
            list={list}
            noun={t.deliveryNouns}
            onPage={(page) => show({ ...search, page: page > 1 ? page : undefined })}
            empty={<NothingSent isFiltered={isFiltered} hasUrl={Boolean(client?.webhookUrl)} />}
          >
            <DeliveriesTable deliveries={list.items} />
          </PagedList>
        )}
      </QueryView>
    </PageFrame>
  );
};

/** Busy only when it was clicked, not when the list refreshes by itself. */
const RefreshButton = ({ id }: { id: string }) => {
  const queryClient = useQueryClient();
  const refresh = useMutation({
    mutationFn: () => queryClient.refetchQueries({ queryKey: ['clients', id, 'deliveries'] }),
  });
  return (
    <Button
      variant="default"
      leftSection={<RefreshCw />}
      loading={refresh.isPending}
      onClick={() => refresh.mutate()}
    >
      {t.refresh}
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
    <Alert color={client.keyStatus === 'EXPIRED' ? 'red' : 'yellow'} icon={<KeyRound size={24} />}>
      {end} {client.replacedBy ? t.keyNoticeReplaced : t.keyNoticeEdit}
    </Alert>
  ) : null;
};

const introOf = (client: ApiClientView): string => {
  const rights = unusualRights(client.rights);
  return rights ? `${whatIsSent(client)} ${t.rightsAre(rights)}` : whatIsSent(client);
};

const whatIsSent = ({ webhookUrl, revokedAt, replacedBy }: ApiClientView): string => {
  if (replacedBy) return t.sentReplaced;
  if (revokedAt) return t.sentRevoked;
  if (!webhookUrl) return t.sentNowhere;
  return t.sentTo(shortened(webhookUrl));
};

const MOST_SHOWN = 80;

/** The beginning and the end: the dialog to edit the client shows all of it. */
const shortened = (url: string): string =>
  url.length <= MOST_SHOWN ? url : `${url.slice(0, MOST_SHOWN - 20)}…${url.slice(-12)}`;

const NothingSent = ({ isFiltered, hasUrl }: { isFiltered: boolean; hasUrl: boolean }) =>
  isFiltered ? (
    <EmptyState title={t.noMatches} description={t.noMatchesHint} />
  ) : (
    <EmptyState title={t.nothingSent} description={hasUrl ? t.nothingSentHint : t.nothingSentNoUrl} />
  );

/** So many of the newest failures are looked at. */
const MOST = 100;
const FEWEST = 2;

/** The reason without the number of attempts, which differs among alike failures. */
const reasonOf = ({ reason }: Delivery): string => reason?.replace(/^\S+ attempts failed: /, '') ?? '';

const fixOf = (reason: string): string =>
  t.fixes.find(([words]) => reason.toLowerCase().includes(words.toLowerCase()))?.[1] ?? t.fixOther;

/** The most frequent reason, and how many failed for it. */
const mostFrequent = (failed: readonly Delivery[]): { reason: string; count: number } | null => {
  const counts = new Map<string, number>();
  for (const delivery of failed) counts.set(reasonOf(delivery), (counts.get(reasonOf(delivery)) ?? 0) + 1);
  const [first] = [...counts].toSorted(([, one], [, other]) => other - one);
  return first && first[1] >= FEWEST ? { reason: first[0], count: first[1] } : null;
};

/** Failures that are alike as one message, with what to do about them. */
export const Failures = ({ client, onShow }: { client: ApiClientView; onShow: () => void }) => {
  const [editing, setEditing] = useState(false);
  const { data } = useQuery({
    queryKey: ['clients', client.id, 'deliveries', 'failed'],
    queryFn: () =>
      api.get<z.infer<typeof DeliveryList>>(`${pathOf(client.id)}/deliveries`, {
        status: 'DROPPED',
        limit: MOST,
      }),
  });
  const group = mostFrequent(data?.items ?? []);
  if (!data || !group) return null;
  const isCut = data.total > data.items.length;
  return (
    <>
      <Alert color="red" title={t.failures(formatNumber(group.count), group.reason)}>
        <Stack gap="sm">
          <Text size="sm">
            {fixOf(group.reason)} {t.catchUp} {isCut ? t.newestFailures(MOST) : ''}
          </Text>
          <Group gap="xs">
            {hasEnded(client) ? null : (
              <Button size="xs" variant="default" onClick={() => setEditing(true)}>
                {t.editClient}
              </Button>
            )}
            <Button size="xs" variant="default" onClick={onShow}>
              {t.showFailed}
            </Button>
          </Group>
        </Stack>
      </Alert>
      {editing ? <CLIENT_DIALOGS.edit client={client} onClose={() => setEditing(false)} /> : null}
    </>
  );
};
