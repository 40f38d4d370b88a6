import '@mantine/core/styles/Fieldset.css';
import { Checkbox, Fieldset, Radio, SimpleGrid, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ApiClientView } from '../../../contract/admin.ts';
import { RIGHTS } from '../../../contract/common.ts';
import { RMA_EVENT_NAMES } from '../../../contract/event-feed.ts';
import { SPECIFIED_EVENTS } from '../../../contract/webhook-event.ts';
import { texts } from '../texts.ts';
import { DAY_MS } from '../ui/relative-time.tsx';
import { eventLabel } from './event-label.ts';

const t = texts.clients;

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
      label={t.name}
      description={t.nameHint}
      placeholder={t.nameExample}
      required
      data-autofocus
      autoComplete="off"
      {...inputProps('name')}
    />
    <TextInput
      label={t.urlOptional}
      description={t.urlHint}
      placeholder={t.urlExample}
      type="url"
      autoComplete="off"
      {...inputProps('webhookUrl')}
    />
  </>
);

const DAY_STYLES = { wrapper: { maxWidth: '16rem' } };

const DayInput = ({ max = LATEST_DAY, ...props }: { label: string; description: string; max?: string }) => (
  <TextInput type="date" min={utcDay(Date.now())} max={max} styles={DAY_STYLES} {...props} />
);

export const ClientInputs = ({ form }: { form: UseFormReturnType<ClientValues> }) => (
  <>
    <NameAndUrl inputProps={form.getInputProps} />
    <Checkbox.Group label={t.rights} description={t.rightsHint} {...form.getInputProps('rights')}>
      <Stack gap="xs" mt="xs">
        {RIGHTS.map((right) => (
          <Checkbox key={right} value={right} label={t.rightNames[right]} />
        ))}
      </Stack>
    </Checkbox.Group>
    <DayInput label={t.lastDay} description={t.lastDayHint} {...form.getInputProps('expiresAt')} />
    {hasUrl(form.values) ? (
      <EventsInput {...form.getInputProps('events')} error={form.errors['events'] ? t.eventsMissing : null} />
    ) : null}
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
    <Radio.Group label={t.oldKey} {...inputProps('oldKey')}>
      <Stack gap="xs" mt="xs">
        <Radio value="ends" label={t.oldKeyEnds} description={t.oldKeyEndsHint} />
        <Radio value="works" label={t.oldKeyWorks} description={t.oldKeyWorksHint} />
      </Stack>
    </Radio.Group>
    {values.oldKey === 'works' ? (
      <DayInput
        label={t.oldKeyUntil}
        description={t.oldKeyUntilHint}
        max={utcDay(Date.now() + OVERLAP_DAYS * DAY_MS)}
        {...inputProps('oldKeyUntil')}
      />
    ) : null}
  </>
);

const EventsInput = (input: { error: string | null }) => (
  <Checkbox.Group label={t.events} description={t.eventsHint} {...input}>
    <SimpleGrid cols={{ base: 1, xs: 2 }} mt="xs">
      {Object.entries(t.eventGroups).map(([prefix, legend]) => (
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
