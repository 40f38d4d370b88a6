import { Button, Group, NativeSelect } from '@mantine/core';
import type { z } from 'zod';
import { DeliveryQuery } from '../../../contract/admin.ts';
import type { ListSearch } from '../list-search.ts';
import { DELIVERY_STATUSES } from './delivery-details.tsx';

const { status: Status, event: Event } = DeliveryQuery.shape;

type Filters = { status: z.infer<typeof Status>; event: z.infer<typeof Event> };

/** Filters from the address; a value that the API would refuse is ignored. */
export const filtersIn = ({ status, event }: ListSearch): Filters => ({
  status: Status.safeParse(status).data,
  event: Event.safeParse(event).data,
});

const ALL = { value: '', label: 'All' };
const STATUS_CHOICES = [
  ALL,
  ...Status.unwrap().options.map((value) => ({ value, label: DELIVERY_STATUSES[value].label })),
];
const EVENT_CHOICES = [ALL, ...Event.unwrap().options];

interface Props {
  filters: Filters;
  onChange(change: Pick<ListSearch, 'status' | 'event'>): void;
  onClear(): void;
}

export const DeliveryFilters = ({ filters: { status, event }, onChange, onClear }: Props) => (
  <Group align="flex-end" gap="sm">
    <NativeSelect
      label="Status"
      value={status ?? ''}
      onChange={({ currentTarget: { value } }) => onChange({ status: value || undefined })}
      data={STATUS_CHOICES}
    />
    <NativeSelect
      label="Event"
      value={event ?? ''}
      onChange={({ currentTarget: { value } }) => onChange({ event: value || undefined })}
      data={EVENT_CHOICES}
    />
    {status || event ? (
      <Button variant="subtle" onClick={onClear}>
        Clear filters
      </Button>
    ) : null}
  </Group>
);
