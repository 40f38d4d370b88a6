import { z } from 'zod';
import { TIMELINE_TYPES, WAITING_FOR } from './lifecycle.ts';

export const BASE_PATH = '/api/v1/external/v1';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Ids are UUIDv7 strings, in lower case once they are read from a request; anything else cannot name a record. */
export const isId = (value: string): boolean => UUID.test(value);
export const Id = z.string().meta({
  format: 'uuid',
  description: 'UUIDv7.',
  examples: ['019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e44'],
});

const RMA_DIGITS = 6;
export const rmaNumber = (number: number): string => `#RMA-${String(number).padStart(RMA_DIGITS, '0')}`;

export const Instant = z.string().meta({
  format: 'date-time',
  description: 'ISO 8601 UTC with milliseconds.',
  examples: ['2026-11-15T09:30:00.000Z'],
});

export const WaitingFor = z
  .object({
    what: z.enum(WAITING_FOR).meta({ id: 'WaitingForWhat' }),
    until: Instant.nullable().meta({ description: 'Until when staff expect it; `null` if not known.' }),
    since: Instant,
  })
  .meta({ id: 'WaitingFor' });

/** The last fields of returns of both kinds. */
export const stamps = {
  waitingFor: WaitingFor.nullable().meta({
    description:
      'What the work waits for, as staff set it; `null` if for nothing. A change of status ends it.',
  }),
  statusSince: Instant.meta({ description: 'When it entered its current status.' }),
  createdAt: Instant,
  updatedAt: Instant,
  erasedAt: Instant.nullable().meta({
    description: "When the customer's data in it were erased; `null` if they were not.",
  }),
};

// --- lists ---

const PAGE_SIZE = { default: 20, most: 100 } as const;
const TIMELINE_PAGE_SIZE = { default: 500, most: 500 } as const;
/** The last page whose offset both engines can represent. */
const LAST_PAGE = 1_000_000_000;

/** Query values arrive as text, so a whole number is read from its digits. */
export const wholeNumber = (least: number, most: number, fallback: number, description: string) =>
  z
    .string()
    .regex(/^\d{1,15}$/, { error: `must be a whole number from ${least} to ${most}` })
    .transform(Number)
    .pipe(z.number().min(least).max(most))
    .default(fallback)
    .meta({ override: { type: 'integer', minimum: least, maximum: most, default: fallback }, description });

const pageQueryOf = (size: { default: number; most: number }) => ({
  page: wholeNumber(1, LAST_PAGE, 1, 'Page number, from 1. A page past the end has no items.'),
  limit: wholeNumber(1, size.most, size.default, 'Items per page.'),
});

export const pageQuery = pageQueryOf(PAGE_SIZE);

/** The prefixes `#RMA-` and `RMA-` are optional. The limit is fifteen digits, which a double represents exactly. */
const RMA_NUMBER = new RegExp(`^(?:#?RMA-)?(?:\\d{${RMA_DIGITS}}|[1-9]\\d{${RMA_DIGITS},14})$`);

export const isRmaNumber = (value: string): boolean => RMA_NUMBER.test(value);

export const rmaNumberFilter = z
  .string()
  .trim()
  .regex(RMA_NUMBER, { error: `must be an RMA number: ${rmaNumber(123)}, RMA-000123 or 000123` })
  .transform((value) => Number(value.replace(/^\D+/, '')))
  .optional()
  .meta({
    override: { type: 'string', pattern: RMA_NUMBER.source },
    description:
      'The RMA with this number. `#RMA-000123`, `RMA-000123` and `000123` mean the same; in a URL write `#` as `%23`.',
    examples: [rmaNumber(123)],
  });

const FIRST_MS = Date.parse('0000-01-01T00:00:00Z');
const END_MS = Date.UTC(10_000, 0);

/** A time of a caller, in milliseconds. Its offset may lead to a year that our time format cannot represent. */
export const sentTime = z.iso
  .datetime({ offset: true })
  .transform((value) => Date.parse(value))
  .refine((ms) => ms >= FIRST_MS && ms < END_MS, {
    error: 'must be in the years 0000 to 9999, in UTC',
    params: { rule: 'format' },
  });

export const updatedSince = sentTime.optional().meta({
  override: { type: 'string', format: 'date-time' },
  description:
    'Only returns that changed at or after this ISO 8601 time; in a URL write `+` as `%2B`. To catch up on events use `GET /events`: a list shows only the last state and may miss what changes while you page through it.',
  examples: ['2026-11-15T09:30:00.000Z'],
});

export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: z.array(item),
    total: z.int().min(0),
    page: z.int().min(1),
    limit: z.int().min(1),
    totalPages: z.int().min(0),
  });

export interface Page {
  page: number;
  limit: number;
}
export const listEnvelope = <Item>(items: Item[], total: number, { page, limit }: Page) => ({
  items,
  total,
  page,
  limit,
  totalPages: Math.ceil(total / limit),
});

// --- timeline ---

const ACTOR_TYPES = ['API_CLIENT', 'USER', 'SYSTEM'] as const;
export const Actor = z.object({
  type: z.enum(ACTOR_TYPES).meta({ id: 'ActorType' }),
  id: Id.nullable(),
  name: z.string().meta({
    description:
      'The name at that time. API clients see the name of a person, or `Staff` if there is none, never an email address.',
  }),
});
export type Actor = z.infer<typeof Actor>;

export const TimelineEntry = z
  .object({
    id: Id,
    type: z.enum(TIMELINE_TYPES).meta({ id: 'TimelineEntryType' }),
    at: Instant,
    actor: Actor,
    fromStatus: z.string().nullable(),
    toStatus: z.string().nullable(),
    note: z.string().nullable(),
    data: z.record(z.string(), z.unknown()).meta({
      description:
        'Further data of the entry; the keys depend on `type`. A correction has the names of its `fields`, not their values; `WAITING_SET` has `what` and `until`.',
    }),
  })
  .meta({ id: 'TimelineEntry' });
export type TimelineEntry = z.infer<typeof TimelineEntry>;

export const Timeline = listOf(TimelineEntry).meta({ id: 'Timeline', description: 'Oldest first.' });
export const TimelineQuery = z.strictObject(pageQueryOf(TIMELINE_PAGE_SIZE));

// --- rights of API clients ---

/** The rights of a client beyond reading: creations and repair actions, moves of trade returns, erasures of personal data. */
export const RIGHTS = ['write', 'move-trade-returns', 'erase'] as const;
export type Right = (typeof RIGHTS)[number];

// --- errors ---

export const RefusedReturn = z
  .object({
    id: Id,
    rmaNumber: z.string().meta({ examples: ['#RMA-000123'] }),
    reason: z
      .enum(['OPEN', 'DELIVERY_WAITING'])
      .meta({ description: 'It has not ended yet, or a webhook about it is still pending.' }),
  })
  .meta({ id: 'RefusedReturn' });
export type RefusedReturn = z.infer<typeof RefusedReturn>;

export const FieldError = z
  .object({
    field: z.string().meta({ description: 'Path of the field, for example `faultyItem.sku`.' }),
    rule: z.string().meta({
      description:
        'The rule that failed: `required`, `type`, `unknown`, `maxLength` …; the page on errors lists them all.',
    }),
    message: z.string(),
  })
  .meta({ id: 'FieldError' });
export type FieldError = z.infer<typeof FieldError>;

/** The OpenAPI document of each API lists the codes that it can return. */
const ErrorCode = z.string().meta({
  id: 'ErrorCode',
  description: 'The name of this error, for your code. More may be added within v1.',
});

export const ErrorBody = z
  .object({
    statusCode: z.int(),
    error: z.string().meta({ description: 'The reason phrase of the status.' }),
    message: z.union([z.string(), z.array(z.string())]).meta({
      description:
        'A sentence; for a validation failure an array of sentences, each beginning with the path of its field.',
    }),
    code: ErrorCode,
    errors: z
      .array(FieldError)
      .optional()
      .meta({ description: 'Validation failures only: the same errors as objects.' }),
    right: z
      .enum(RIGHTS)
      .optional()
      .meta({ description: '`RIGHT_REQUIRED` only: the right that the client lacks.' }),
    refused: z
      .array(RefusedReturn)
      .optional()
      .meta({ description: '`ERASE_REFUSED` only: the returns that were not erased, and why.' }),
    docs: z.string().meta({
      description: 'The URL of its explanation in the documentation.',
      examples: ['https://returns.example.com/docs/errors#LIMIT_EXCEEDED'],
    }),
    requestId: z
      .string()
      .meta({ description: 'The same as in `X-Request-Id`; quote it when you ask for help.' }),
  })
  .meta({ id: 'ApiError' });
export type ErrorBody = z.infer<typeof ErrorBody>;

/** The caller chooses the key, so that a creation that is sent twice happens once. */
export const IdempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, { error: 'must be 1 to 255 printable ASCII characters' })
  .optional()
  .meta({
    override: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]*$' },
    description:
      'Makes a retry safe: within 24 hours the same key with the same body returns the first result and creates nothing. A key belongs to one API client, and both kinds of creation share their keys.',
    examples: ['till-4-receipt-88213-line-1'],
  });
