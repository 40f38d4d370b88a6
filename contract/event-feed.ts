import { z } from 'zod';
import { Id, Instant, wholeNumber } from './common.ts';
import { SPECIFIED_EVENTS, WEBHOOK_EVENT_DATA, type WebhookEventName } from './webhook-event.ts';

export type RmaEventName = Exclude<WebhookEventName, 'webhook.test'>;

/** The events about a return; the feed contains no others. */
export const RMA_EVENT_NAMES = Object.keys(WEBHOOK_EVENT_DATA).filter(
  (name): name is RmaEventName => name !== 'webhook.test',
);

/** The value of `types` that selects every kind of event. */
export const ALL_TYPES = 'all';

const namesIn = (types: string): string[] => types.split(',').map((name) => name.trim());
const unknownIn = (types: string): string | undefined =>
  namesIn(types).find((name) => !RMA_EVENT_NAMES.some((known) => known === name));

const EventTypes = z
  .string()
  .max(1000)
  .refine((types) => types === ALL_TYPES || unknownIn(types) === undefined, {
    error: ({ input }) =>
      `must be ${ALL_TYPES}, or some of ${RMA_EVENT_NAMES.join(', ')}, separated by commas; "${unknownIn(String(input))}" is none of them`,
    params: { rule: 'oneOf' },
  })
  .transform((types) => (types === ALL_TYPES ? ALL_TYPES : namesIn(types)))
  .optional()
  .meta({
    override: { type: 'string' },
    description: `Which events: names separated by commas, or \`${ALL_TYPES}\` for every kind. Without it the feed has the nine events of the specification (\`${SPECIFIED_EVENTS.join('`, `')}\`). The cursor also passes events that were not asked for.`,
    examples: ['offline_repair.created,offline_repair.closed'],
  });

/** The value of `after` that returns no events, only the newest cursor. */
export const LATEST = 'latest';

/** A request may wait this long for the next event. */
export const LONGEST_WAIT_SECONDS = 25;

export const EventQuery = z.strictObject({
  after: z.string().max(100).optional().meta({
    description:
      'The `cursor` of the previous page. Without it the feed begins with the oldest stored event; `latest` returns no events, only the newest cursor.',
  }),
  limit: wholeNumber(
    1,
    100,
    20,
    'Maximum number of events per page. A page may have fewer although more follow: see `hasMore`.',
  ),
  wait: wholeNumber(
    0,
    LONGEST_WAIT_SECONDS,
    0,
    'Seconds to wait for the next event if there is nothing new.',
  ),
  types: EventTypes,
});
export type EventQuery = z.infer<typeof EventQuery>;

/** Turns `offline_repair.status_changed` into `OfflineRepairStatusChangedEvent`. */
const schemaName = (event: string): string =>
  `${event.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;

const feedEvent = (event: RmaEventName) =>
  z
    .object({
      id: Id.meta({ description: 'The `X-Webhook-Id` of its delivery.' }),
      event: z.literal(event),
      timestamp: Instant,
      data: WEBHOOK_EVENT_DATA[event],
    })
    .meta({ id: schemaName(event) });

type FeedEventOf = ReturnType<typeof feedEvent>;

const FeedEvent = z
  .discriminatedUnion('event', RMA_EVENT_NAMES.map(feedEvent) as [FeedEventOf, ...FeedEventOf[]])
  .meta({
    id: 'FeedEvent',
    description: '`event`, `timestamp` and `data` are those of the webhook.',
    discriminator: {
      propertyName: 'event',
      mapping: Object.fromEntries(
        RMA_EVENT_NAMES.map((event) => [event, `#/components/schemas/${schemaName(event)}`]),
      ),
    },
  });

export const EventPage = z
  .object({
    items: z.array(FeedEvent),
    cursor: z.string().meta({ description: 'Pass it as `after` in the next call. Opaque: do not parse it.' }),
    hasMore: z.boolean().meta({ description: 'Whether more events are available now.' }),
  })
  .meta({ id: 'EventPage', description: 'Oldest first.' });
