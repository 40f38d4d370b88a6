import { z } from 'zod';
import { USER_ROLES } from './admin-people.ts';
import { Id, Instant, isId, listOf, type Page, sentTime, WaitingFor } from './common.ts';
import { email, LENGTH, optionalText, text } from './fields.ts';
import { KIND_NAMES, type ReturnTable } from './kinds.ts';
import { DISPOSITIONS, WAITING_FOR } from './lifecycle.ts';
import { OfflineRepair, OfflineRepairQuery } from './offline-repair.ts';
import { DEFAULT_ORDER, RETURN_SORTS, SORT_ORDERS } from './return-order.ts';
import { TradeReturn, TradeReturnQuery } from './trade-return.ts';

// The schemas of returns for the shop's staff: assignee, due time, filters of lists.

export const Assignee = z
  .object({
    id: Id,
    name: z.string().meta({ description: 'Without a name, the part of the email before the `@`.' }),
  })
  .meta({ id: 'Assignee' });
export type Assignee = z.infer<typeof Assignee>;

export const StaffWaitingFor = WaitingFor.extend({
  note: z.string().nullable().meta({ description: 'For staff only.' }),
}).meta({ id: 'StaffWaitingFor' });
export type StaffWaitingFor = z.infer<typeof StaffWaitingFor>;

const staffFields = {
  waitingFor: StaffWaitingFor.nullable().meta({
    description: 'What the work waits for; `null` if for nothing. Its target days are paused meanwhile.',
  }),
  assignee: Assignee.nullable().meta({ description: 'The person of the team who works on it.' }),
  dueAt: Instant.nullable().meta({
    description:
      'When it becomes overdue in its current status; `null` if the status has no target days, and while it waits.',
  }),
};
export const AdminOfflineRepair = OfflineRepair.extend(staffFields).meta({
  id: 'AdminOfflineRepair',
  examples: [],
});
export type AdminOfflineRepair = z.infer<typeof AdminOfflineRepair>;
const AdminOfflineRepairList = listOf(AdminOfflineRepair).meta({ id: 'AdminOfflineRepairList' });
export const AdminTradeReturn = TradeReturn.extend(staffFields).meta({
  id: 'AdminTradeReturn',
  examples: [],
});
export type AdminTradeReturn = z.infer<typeof AdminTradeReturn>;
const AdminTradeReturnList = listOf(AdminTradeReturn).meta({ id: 'AdminTradeReturnList' });

export const Assign = z
  .strictObject({ assigneeId: Id.nullable().meta({ description: '`null` for unassigned.' }) })
  .meta({ id: 'Assign' });

export const PeopleList = z
  .object({
    items: z.array(z.object({ id: Id, name: z.string(), email: z.string(), role: z.enum(USER_ROLES) })),
  })
  .meta({ id: 'PeopleList', description: 'Ordered by name.' });

export const StoreList = z
  .object({ items: z.array(z.object({ storeId: z.string(), open: z.int().min(0) })) })
  .meta({ id: 'StoreList', description: 'Stores with the most open repairs first, at most 500.' });
export type StoreList = z.infer<typeof StoreList>;

// --- filters and order of lists ---

const booleanFilter = (description: string) =>
  z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    .meta({ override: { type: 'boolean' }, description });

const isoTime = (description: string, meta: { examples?: string[] } = {}) =>
  sentTime.optional().meta({ override: { type: 'string', format: 'date-time' }, description, ...meta });

/** The filters and the order for staff, in addition to those for API clients. */
const staffQuery = {
  q: text(LENGTH.name, {
    description:
      'Free text: every word must occur in number, order, reference, customer, phone, company, product, sku, serial or tracking number. A phone number is found in any format.',
  }).optional(),
  origin: z
    .enum(['API', 'STAFF'])
    .optional()
    .meta({ description: 'Created by an API client of the shop, or by its staff.' }),
  open: booleanFilter('`true` for open returns only, `false` for ended ones only.'),
  assignee: z
    .string()
    .overwrite((value) => (isId(value.toLowerCase()) ? value.toLowerCase() : value))
    .refine((value) => value === 'me' || value === 'none' || isId(value), {
      error: 'must be me, none or the id of a person',
      params: { rule: 'person' },
    })
    .optional()
    .meta({ description: '`me`, `none`, or the id of a person of the shop.' }),
  overdue: z
    .literal('true')
    .optional()
    .meta({
      override: { type: 'boolean', const: true },
      description: 'Only returns that have been in their status for longer than the target days.',
    }),
  waitingFor: z
    .enum([...WAITING_FOR, 'any', 'none'])
    .optional()
    .meta({
      description: 'What the work waits for; `any` for every reason, `none` for returns that do not wait.',
    }),
  dueFrom: isoTime('Due at or after this ISO 8601 time. Waiting returns are not due.'),
  dueTo: isoTime('Due before this ISO 8601 time.'),
  createdFrom: isoTime('Created at or after this ISO 8601 time.'),
  createdTo: isoTime('Created before this ISO 8601 time.'),
  sort: z.enum(RETURN_SORTS).default(DEFAULT_ORDER.sort).meta({
    description:
      'Sort key; ties are ordered by number. `status` sorts in the order of the work; with `dueAt`, returns without a due time come last in either order.',
  }),
  order: z.enum(SORT_ORDERS).default(DEFAULT_ORDER.order),
};

const part = (description: string) => text(LENGTH.name, { description }).optional();

export const AdminOfflineRepairQuery = OfflineRepairQuery.extend({
  ...staffQuery,
  isDangerous: booleanFilter('`true` for dangerous goods only, `false` for all others.'),
  disposition: z.enum(DISPOSITIONS).optional(),
  store: part("A part of the store's id, not case-sensitive."),
});
export const AdminTradeReturnQuery = TradeReturnQuery.extend({
  ...staffQuery,
  company: part("A part of the company's name or id, not case-sensitive."),
});
type StaffQuery = z.output<typeof AdminOfflineRepairQuery> & z.output<typeof AdminTradeReturnQuery>;
/** The filters of lists of all kinds. */
export type RmaFilters = Page &
  Partial<Omit<StaffQuery, keyof Page | 'status'>> & { status?: string | undefined };

// --- requests about one return, for staff only ---

/** The version on which the caller based a decision. The admin app always sends it. */
const seen = isoTime(
  'The `updatedAt` that the caller saw. If the return was moved since (for a correction: corrected), the response is a 409 `EDIT_CONFLICT` and nothing changes.',
  { examples: ['2026-11-15T09:30:00.000Z'] },
);
export const MoveQuery = z.strictObject({ seen });

const WAITING_NOTE = 500;
export const SetWaitingFor = z
  .strictObject({
    what: z.enum(WAITING_FOR),
    until: isoTime('Until when it is expected; `null` or absent if not known.').nullable().default(null),
    note: optionalText(WAITING_NOTE, {
      description: 'For staff only.',
      examples: ['Heating element, order 4711'],
    }),
  })
  .meta({ id: 'SetWaitingFor' });
export type SetWaitingFor = z.infer<typeof SetWaitingFor>;

const correctable = {
  customerName: text(LENGTH.name).optional(),
  customerEmail: email().optional(),
  customerPhone: optionalText(LENGTH.name).unwrap().optional(),
  seen,
};
const CORRECTION = 'Absent fields are unchanged; `null` or `""` removes a phone or serial number.';
export const CorrectOfflineRepair = z
  .strictObject({
    ...correctable,
    serialNumber: optionalText(LENGTH.reference).unwrap().optional(),
  })
  .meta({ id: 'CorrectOfflineRepair', description: CORRECTION });
export type CorrectOfflineRepair = z.infer<typeof CorrectOfflineRepair>;
export const CorrectTradeReturn = z
  .strictObject({ ...correctable, companyName: text(LENGTH.name).optional() })
  .meta({ id: 'CorrectTradeReturn', description: CORRECTION });
export type CorrectTradeReturn = z.infer<typeof CorrectTradeReturn>;

// --- the schemas of each kind ---

export const STAFF_SCHEMAS = {
  offline_repairs: {
    query: AdminOfflineRepairQuery,
    item: AdminOfflineRepair,
    list: AdminOfflineRepairList,
    correct: CorrectOfflineRepair,
  },
  trade_returns: {
    query: AdminTradeReturnQuery,
    item: AdminTradeReturn,
    list: AdminTradeReturnList,
    correct: CorrectTradeReturn,
  },
} as const satisfies Record<ReturnTable, object>;

// --- frequent faults ---

export const FaultQuery = z.strictObject({ sku: text(LENGTH.reference) });
export const FaultList = z
  .object({ items: z.array(z.object({ text: z.string(), count: z.int().min(1) })) })
  .meta({
    id: 'FaultList',
    description: 'The most frequent short fault descriptions of the newest repairs of a sku, at most six.',
  });
export type FaultList = z.infer<typeof FaultList>;

// --- related returns ---

const RelatedReturn = z.object({
  kind: z.enum(KIND_NAMES),
  id: Id,
  rmaNumber: z.string(),
  status: z.string(),
  title: z.string().meta({ description: 'The product of a repair, or the company of a trade return.' }),
  customerName: z.string(),
  createdAt: Instant,
});
export type RelatedReturn = z.infer<typeof RelatedReturn>;

const related = z.object({ items: z.array(RelatedReturn), total: z.int().min(0) });
export const RelatedReturns = z
  .object({
    sameSerial: related.meta({ description: 'Earlier repairs with the same serial number.' }),
    sameCustomer: related.meta({
      description:
        'Earlier returns of either kind with the same email address, in any case, or of the same company.',
    }),
  })
  .meta({ id: 'RelatedReturns', description: 'Newest first, at most five of each; `total` counts all.' });
export type RelatedReturns = z.infer<typeof RelatedReturns>;
