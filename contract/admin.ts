import { z } from 'zod';
import { Assignee, StaffWaitingFor } from './admin-returns.ts';
import { Id, Instant, listOf, RIGHTS, sentTime } from './common.ts';
import { WebhookDelivery, WebhookDeliveryQuery } from './delivery.ts';
import { RMA_EVENT_NAMES } from './event-feed.ts';
import { LENGTH, optionalText, text } from './fields.ts';
import { KIND_NAMES, perField, RETURN_KINDS, type ReturnTable } from './kinds.ts';
import { BILLING_KINDS } from './usage.ts';

// These schemas belong to the admin API only. Those of people are in admin-people.ts.

// --- returns ---

export const AddNote = z.strictObject({ note: text(LENGTH.freeText) }).meta({ id: 'AddNote' });

// --- API clients and their deliveries ---

const webhookUrl = optionalText(2000, {
  description: 'The URL that events are sent to: https, a public address, no user name or password.',
  examples: ['https://erp.example.com/hooks/handback'],
});

const rights = z.array(z.enum(RIGHTS)).meta({
  description:
    '`write`: creations and repair actions; `move-trade-returns`; `erase`: personal data. Without any the client only reads.',
});
const events = z
  .array(z.enum(RMA_EVENT_NAMES))
  .min(1)
  .meta({ description: 'The events that are sent to the webhook URL.' });
const time = sentTime.meta({
  override: { type: 'string', format: 'date-time' },
  examples: ['2027-02-01T00:00:00Z'],
});

/** A key counts as expiring soon for this many days before its end. */
export const EXPIRES_SOON_DAYS = 14;
/** An old key may work beside the new one for at most this many days. */
export const LONGEST_OVERLAP_DAYS = 30;
const KEY_STATUSES = ['ACTIVE', 'EXPIRES_SOON', 'EXPIRED', 'REVOKED'] as const;

export const ApiClientView = z
  .object({
    id: Id,
    name: z.string(),
    webhookUrl: z.string().nullable(),
    rights,
    events,
    expiresAt: Instant.nullable().meta({
      description: 'From then on the key is refused; webhooks continue. `null` if it does not expire.',
    }),
    keyStatus: z.enum(KEY_STATUSES).meta({
      id: 'KeyStatus',
      description: `Whether the key works now; \`EXPIRES_SOON\` for the last ${EXPIRES_SOON_DAYS} days before \`expiresAt\`.`,
    }),
    lastUsedAt: Instant.nullable().meta({ description: 'When its key was last used, exact to the minute.' }),
    revokedAt: Instant.nullable(),
    replacedBy: Id.nullable().meta({
      description:
        'The client that replaced it and receives its events; `null` unless it was replaced. Its own key may work until `expiresAt`.',
    }),
    createdAt: Instant,
  })
  .meta({ id: 'ApiClient' });
export type ApiClientView = z.infer<typeof ApiClientView>;
export const ApiClientList = z.object({ items: z.array(ApiClientView) }).meta({ id: 'ApiClientList' });
export const NewApiClientView = ApiClientView.extend({
  apiKey: z.string().meta({ description: 'The API key, shown only in this response.' }),
  webhookSecret: z.string().meta({ description: 'The webhook secret, shown only in this response.' }),
}).meta({ id: 'NewApiClient' });

/** Absent and `null` fields have the default in a new client, and are unchanged in an existing one. */
const clientSettings = { rights: rights.nullish(), events: events.nullish() };

export const CreateApiClient = z
  .strictObject({
    name: text(LENGTH.name),
    webhookUrl,
    rights: clientSettings.rights.meta({ description: '`["write"]` when absent.' }),
    events: clientSettings.events.meta({ description: 'The nine events of the specification when absent.' }),
    expiresAt: time.nullish().meta({ description: 'From when on the key is refused; never when absent.' }),
  })
  .meta({ id: 'CreateApiClient' });
export type CreateApiClient = z.infer<typeof CreateApiClient>;
export const ChangeApiClient = z
  .strictObject({
    name: text(LENGTH.name).optional(),
    webhookUrl: webhookUrl.unwrap().optional(),
    ...clientSettings,
    expiresAt: time.nullish().meta({ description: '`null` for never. A later time revives an expired key.' }),
  })
  .meta({ id: 'ChangeApiClient', description: 'Absent fields are unchanged.' });
export type ChangeApiClient = z.infer<typeof ChangeApiClient>;
/** Absent fields are copied from the old client; a `webhookUrl` of `null` means none. */
export const ReplaceApiClient = z
  .strictObject({
    name: optionalText(LENGTH.name, { description: 'Copied from the old client when absent.' }),
    webhookUrl: webhookUrl.unwrap().optional().meta({
      description: 'Copied from the old client when absent; `null` for none.',
    }),
    oldKeyUntil: time.nullish().meta({
      description:
        'Until then, at most 30 days ahead, the old key works beside the new one. Without it the old key stops working at once.',
    }),
  })
  .meta({ id: 'ReplaceApiClient' });
export type ReplaceApiClient = z.infer<typeof ReplaceApiClient>;

export const Delivery = WebhookDelivery.extend({
  finishedAt: Instant.nullable(),
  payload: z.unknown().meta({ description: 'The body as it is sent.' }),
}).meta({ id: 'Delivery' });
export type Delivery = z.infer<typeof Delivery>;
export const DeliveryList = listOf(Delivery).meta({ id: 'DeliveryList', description: 'Newest first.' });
export const DeliveryQuery = WebhookDeliveryQuery.omit({ rmaId: true });
export type DeliveryQuery = z.infer<typeof DeliveryQuery>;

// --- overview ---

const isTimeZoneOrOffset = (value: string): boolean => {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: value }));
  } catch {
    return false;
  }
};

/** The upper ends of the age groups of open returns, in days. One more group has no upper end. */
export const AGE_STEPS_DAYS = [1, 3, 7, 30] as const;

const span = {
  createdFrom: Instant.nullable().meta({
    description: 'Filter for the list of the same rows; `null` for no lower bound.',
  }),
  createdTo: Instant.nullable().meta({ description: 'Exclusive; `null` for no upper bound.' }),
};

const counts = <Status extends readonly [string, ...string[]]>(statuses: Status) =>
  z.object({
    byStatus: z.array(z.object({ status: z.enum(statuses), count: z.int() })),
    open: z.int(),
    mine: z.int().meta({ description: 'Open returns assigned to the caller.' }),
    unassigned: z.int().meta({ description: 'Open returns without an assignee.' }),
    overdue: z.int().meta({ description: 'In their status for longer than the target days.' }),
    dueToday: z.int().meta({ description: 'Due after `now` and before `todayEnds`.' }),
    waiting: z.int().meta({ description: 'Open returns whose work waits for something.' }),
    createdToday: z.int(),
    openByAge: z.array(z.object({ upToDays: z.int().nullable(), count: z.int(), ...span })),
  });

type KindOf<Table extends ReturnTable> = (typeof RETURN_KINDS)[Table];
const countsPerKind = perField((table) => counts(RETURN_KINDS[table].statuses)) as {
  [Table in ReturnTable as KindOf<Table>['field']]: ReturnType<typeof counts<KindOf<Table>['statuses']>>;
};

export const OverviewQuery = z.strictObject({
  timeZone: text(LENGTH.reference)
    .refine(isTimeZoneOrOffset, {
      error: 'must be an IANA time zone such as Europe/Berlin',
      params: { rule: 'timeZone' },
    })
    .default('UTC')
    .meta({
      description:
        "The reader's time zone (IANA), for `todayBegins`, `todayEnds` and the days of `createdPerDay`.",
      default: 'UTC',
    }),
});

const OverviewReturn = z
  .object({
    kind: z.enum(KIND_NAMES),
    id: Id,
    rmaNumber: z.string(),
    status: z.string(),
    isPartlyReceived: z
      .boolean()
      .meta({ description: 'Whether an approved trade return has partly arrived.' }),
    title: z.string().meta({ description: 'The product of a repair, or the company of a trade return.' }),
    customerName: z.string(),
    assignee: Assignee.nullable(),
    dueAt: Instant.nullable(),
    waitingFor: StaffWaitingFor.nullable(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: 'OverviewReturn' });
export type OverviewReturn = z.infer<typeof OverviewReturn>;

export const Overview = z
  .object({
    now: Instant.meta({ description: 'The time of these figures.' }),
    todayBegins: Instant.meta({ description: "Midnight in the reader's time zone." }),
    todayEnds: Instant.meta({ description: 'The next midnight.' }),
    ...countsPerKind,
    createdPerDay: z.array(z.object({ day: z.string(), ...perField(() => z.int()), ...span })),
    month: z.object({
      month: z.string().meta({ examples: ['2026-11'] }),
      used: z.int(),
      limit: z.int().nullable(),
      billing: z.enum(BILLING_KINDS),
    }),
    webhooks: z
      .object({ delivered: z.int(), dropped: z.int(), waiting: z.int() })
      .meta({ description: 'Webhook deliveries of the last 24 hours.' }),
    droppedByClient: z
      .array(z.object({ clientId: Id, name: z.string(), dropped: z.int() }))
      .nullable()
      .meta({
        description: 'Webhook deliveries dropped in the last 24 hours; `null` for staff, who see no clients.',
      }),
    failingReceivers: z
      .array(
        z.object({
          clientId: Id,
          name: z.string(),
          since: Instant.meta({ description: 'Since when every attempt has failed.' }),
          lastError: z.string().meta({ description: 'Why the last attempt failed.' }),
        }),
      )
      .nullable()
      .meta({
        description:
          'Clients whose webhook URL has acknowledged nothing for ten minutes or longer; `null` for staff, who see no clients.',
      }),
    next: z
      .array(OverviewReturn)
      .meta({ description: 'Up to 8 open returns that have a due time, the earliest first.' }),
    mine: z.array(OverviewReturn).meta({
      description: 'The same for the caller, including returns without a due time, which come last.',
    }),
    openLongest: z
      .array(OverviewReturn)
      .meta({ description: 'The oldest open returns, without repairs that only need to be closed.' }),
  })
  .meta({ id: 'Overview' });
export type Overview = z.infer<typeof Overview>;
