import { Checkbox, Fieldset, Radio, SimpleGrid, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ApiClientView } from '../../../contract/admin.ts';
import { RIGHTS } from '../../../contract/common.ts';
import { RMA_EVENT_NAMES } from '../../../contract/event-feed.ts';
import { SPECIFIED_EVENTS } from '../../../contract/webhook-event.ts';
import { RIGHT_LABELS } from '../shop-queries.ts';

const DAY_MS = 86_400_000;
/** Browsers let people type years of six digits unless there is a last day. */
const LATEST_DAY = '9998-12-31';

const utcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The end of a day, UTC. What is not a whole day stays as it is, for the schema to refuse. */
export const endOfDay = (day: string): string =>
  day.length === LATEST_DAY.length ? new Date(Date.parse(day) + DAY_MS).toISOString() : day;

/** A client as the forms have it: its key's end is a day. */
export const valuesOf = (client: ApiClientView | null) => ({
  name: client?.name ?? '',
  webhookUrl: client?.webhookUrl ?? '',
  rights: client?.rights ?? ['write'],
  expiresAt: client?.expiresAt ? utcDay(Date.parse(client.expiresAt) - 1) : '',
  events: client?.events ?? [...SPECIFIED_EVENTS],
});
type ClientValues = ReturnType<typeof valuesOf>;

/** Only what differs: a colleague may be changing the rest, and a new client takes it over as it is then. */
export const changedIn = <Values extends object>(values: Values, before: Values): Partial<Values> => {
  const known = new Map(Object.entries(before).map(([field, value]) => [field, String(value)]));
  const changed = Object.entries(values).filter(([field, value]) => known.get(field) !== String(value));
  return Object.fromEntries(changed) as Partial<Values>;
};

const hasUrl = ({ webhookUrl }: ClientValues): boolean => webhookUrl.trim() !== '';

/** The body for these values, or for some of them. Without a webhook URL the choice of events is not shown, and not sent. */
export const bodyOf = (all: ClientValues, { expiresAt, events, ...rest }: Partial<ClientValues> = all) => ({
  ...rest,
  ...(expiresAt === undefined ? {} : { expiresAt: expiresAt === '' ? null : endOfDay(expiresAt) }),
  ...(events && hasUrl(all) ? { events } : {}),
});

export const NameAndUrl = ({ inputProps }: { inputProps: (field: 'name' | 'webhookUrl') => object }) => (
  <>
    <TextInput
      label="Name"
      description="What you will know it by: the program, perhaps also where it runs."
      placeholder="Till, Berlin"
      required
      data-autofocus
      autoComplete="off"
      {...inputProps('name')}
    />
    <TextInput
      label="Webhook URL (optional)"
      description="Events are sent here as they happen. An https address that can be reached from the internet; leave empty for none."
      placeholder="https://erp.example.com/hooks/handback"
      type="url"
      autoComplete="off"
      {...inputProps('webhookUrl')}
    />
  </>
);

const DAY_STYLES = { wrapper: { maxWidth: '16rem' } };

interface DayProps {
  label: string;
  description: string;
  max?: string;
}

const DayInput = ({ max = LATEST_DAY, ...props }: DayProps) => (
  <TextInput type="date" min={utcDay(Date.now())} max={max} styles={DAY_STYLES} {...props} />
);

export const ClientInputs = ({ form }: { form: UseFormReturnType<ClientValues> }) => (
  <>
    <NameAndUrl inputProps={form.getInputProps} />
    {hasUrl(form.values) ? (
      <EventsInput
        {...form.getInputProps('events')}
        error={form.errors['events'] ? 'Choose at least one event.' : null}
      />
    ) : null}
    <Checkbox.Group
      label="What it may do"
      description="It can always read. Choose nothing for a program that only reads."
      {...form.getInputProps('rights')}
    >
      <Stack gap="xs" mt="xs">
        {RIGHTS.map((right) => (
          <Checkbox key={right} value={right} label={RIGHT_LABELS[right]} />
        ))}
      </Stack>
    </Checkbox.Group>
    <DayInput
      label="Last day of the key (optional)"
      description="The key stops working at the end of this day, UTC. Events are sent also afterwards."
      {...form.getInputProps('expiresAt')}
    />
  </>
);

/** The longest time that the service allows, in days that end by then. */
const OVERLAP_DAYS = 29;

interface OldKeyProps {
  values: { oldKey: string };
  inputProps: (field: 'oldKey' | 'oldKeyUntil') => object;
}

export const OldKeyInputs = ({ values, inputProps }: OldKeyProps) => (
  <>
    <Radio.Group label="The old key" {...inputProps('oldKey')}>
      <Stack gap="xs" mt="xs">
        <Radio value="ends" label="Ends at once" description="If it was lost or seen by others." />
        <Radio
          value="works"
          label="Works for a while beside the new one"
          description="So that the program can change over without a break."
        />
      </Stack>
    </Radio.Group>
    {values.oldKey === 'works' ? (
      <DayInput
        label="The old key works until"
        description="The end of this day, UTC; at most 30 days ahead."
        max={utcDay(Date.now() + OVERLAP_DAYS * DAY_MS)}
        {...inputProps('oldKeyUntil')}
      />
    ) : null}
  </>
);

const EVENT_GROUPS = { offline_repair: 'Repairs', trade_return: 'Trade returns' };

/** Where the name itself would not say it. */
const EVENT_LABELS: Record<string, string> = {
  tracking_uploaded: 'Tracking number added',
  disposition_set: 'Outcome decided',
  items_received: 'Items counted',
  updated: 'Corrected or assigned',
  erased: 'Customer’s data erased',
};

const eventLabel = (event: string): string => {
  const kind = event.replace(/^.*\./, '');
  return EVENT_LABELS[kind] ?? kind.charAt(0).toUpperCase() + kind.slice(1).replaceAll('_', ' ');
};

const EventsInput = (input: { error: string | null }) => (
  <Checkbox.Group label="Events it is sent" description="About returns that it created." {...input}>
    <SimpleGrid cols={{ base: 1, xs: 2 }} mt="xs">
      {Object.entries(EVENT_GROUPS).map(([prefix, legend]) => (
        <Fieldset key={prefix} legend={legend}>
          <Stack gap="xs">
            {RMA_EVENT_NAMES.filter((event) => event.startsWith(prefix)).map((event) => (
              <Checkbox key={event} value={event} label={eventLabel(event)} description={event} />
            ))}
          </Stack>
        </Fieldset>
      ))}
    </SimpleGrid>
  </Checkbox.Group>
);
