import { expect } from 'vitest';
import {
  OFFLINE_REPAIR_STATUSES,
  TRADE_RETURN_STATUSES,
  type TradeReturnAction,
  type TradeReturnStatus,
} from '../../contract/lifecycle.ts';
import { offlineRepairs, tradeReturns } from '../../src/returns/actions.ts';
import type { Caller } from '../../src/shops/plans.ts';
import { ISO, type Kind, newRepair, staffOf, UUID7 } from './api.ts';
import { EMPTY_ITEM, repairBody, TRADE_ITEM, tradeBody, wholeTradeBody } from './bodies.ts';
import type { ApiResponse, Harness, SendOptions } from './harness.ts';
import type { TextField } from './texts.ts';
import { tradeReturnIn } from './trade-moves.ts';

// What the suites of both kinds of RMA need to know of each: one row per kind.

type Body = Record<string, unknown>;
type Rma = ApiResponse['body'];

/** A change that can be made to one of the kind: how, and what the timeline and the event say of it. */
interface Step {
  action: string;
  /** By the program or, where programs cannot, by a person of the shop. */
  take(t: Harness, id: string, options?: SendOptions): Promise<Rma>;
  entry: string;
  to: string;
  event: string;
  /** The data of the event beyond what all have. */
  data: Body;
}

export interface KindRow {
  kind: Kind;
  path: string;
  /** Its name among the rows that tests count. */
  rows: 'repairs' | 'returns';
  statuses: readonly string[];
  start: string;
  body(more?: Body): object;
  whole(): Body;
  /** `null` in every optional field. */
  nulls: Body;
  /** The responses to the smallest and to the whole body, but for id, number and times. */
  responses: { smallest: object; whole: object };
  /** The first entry of the timeline of a whole one. */
  created: { toStatus: string; note: string | null; data: Body };
  texts: TextField[];
  /** Where the item's numbers are. */
  item: string;
  /** With empty objects in place of all nested ones, and what is missing then beside the fields at the top. */
  hollow: Body;
  hollowNeeds: string[];
  /** Fields of responses, of the other kind, and of nothing. */
  strangers: Body;
  /** Values that are not of the type the field has. */
  misshapen: Body;
  /** A changed value at every depth. */
  others: Body[];
  /** The list's filters by a text, each to the letter. */
  filters: string[];
  /** Fields that the list can be narrowed by, each with a value of its own. */
  marks: Record<string, string>;
  /** What narrows the other kind's list, or staff's. */
  foreignFilters: string[];
  /** From the start to an end. */
  walk: Step[];
  reach(t: Harness, status: string, options?: SendOptions): Promise<{ id: string }>;
  note(t: Harness, id: string, text: string, caller?: Caller): Promise<Rma>;
}

const TRACKING = { trackingNumber: 'JD0146000034', carrierName: 'DHL' };
const ITEM = repairBody().faultyItem;
const NO_DETAILS = { serialNumber: null, variantTitle: null, weight: null };
const ADDRESS = tradeBody().shippingAddress;

const wholeRepair = () => ({
  ...repairBody(),
  customerPhone: '+44 20 7946 0018',
  faultyItem: {
    ...ITEM,
    quantity: 2.5,
    serialNumber: 'SN-448120',
    variantTitle: 'Brushed steel',
    weight: 1.2345,
  },
  externalRef: 'POS-88213',
  externalSource: 'till-4',
  startStatus: 'COUNTER_SWAPPED',
  replacementSku: 'KETTLE-18',
  notes: 'Customer waits',
  tracking: TRACKING,
});
const { startStatus, tracking, ...wholeRepairEchoed } = wholeRepair();
/** What no creation sets. */
const NOT_YET = { offlineDisposition: null, isDangerous: false, assignedToId: null, repairNotes: null };
const NO_REPAIR_EXTRAS = {
  customerPhone: null,
  externalRef: null,
  externalSource: null,
  replacementSku: null,
  notes: null,
};
const NO_TRADE_EXTRAS = {
  customerPhone: null,
  orderDate: null,
  customerNotes: null,
  faultDescription: null,
  additionalComment: null,
  externalRef: null,
  externalSource: null,
};

const NOTHING_CAME = { received: 0, accepted: 0 };
const LAMPS_IN_FULL = {
  line: 1,
  sku: TRADE_ITEM.sku,
  tradeLineItemId: null,
  quantity: 4,
  received: 4,
  accepted: 4,
};

const required = (max: number, ...paths: string[]): TextField[] =>
  paths.map((path) => ({ path, max, required: true }));
const optional = (max: number, ...paths: string[]): TextField[] => paths.map((path) => ({ path, max }));

/** A step by its action and body, the timeline's entry, the status it leads to, the event, and the event's data. */
type WalkRow = [action: string, body: Body, entry: string, to: string, event: string, data: Body];

const repairStep = ([action, body, entry, to, event, data]: WalkRow): Step => ({
  ...{ action, entry, to, event: `offline_repair.${event}`, data },
  take: async (t, id, options) => {
    const response = await t.post(`/offline-repairs/${id}/${action}`, body, options);
    expect(response).toHaveStatus(200);
    return response.body;
  },
});
const tradeStep = ([action, body, entry, to, event, data]: WalkRow): Step => ({
  ...{ action, entry, to, event: `trade_return.${event}`, data },
  take: (t, id) =>
    tradeReturns.move(t.ctx, staffOf(t), id, action as TradeReturnAction, { note: null, ...body }),
});

const TECH = { assignedToId: 'tech-1' };
const CREDIT = 'TRADE_CREDIT_REQUESTED';
const AMOUNT = { creditAmount: 482 };
const RECEIVED = { items: [LAMPS_IN_FULL], ...AMOUNT };
const WRITE_OFF = { offlineDisposition: 'WRITE_OFF' };
const DIAGNOSTICS = 'OFFLINE_DIAGNOSTICS';
const RESOLVED = 'OFFLINE_RESOLVED';
const from = (previousStatus: string, more: Body = {}): Body => ({ previousStatus, ...more });
const REPAIR_WALK: WalkRow[] = [
  ['tracking', TRACKING, 'TRACKING_UPLOADED', DIAGNOSTICS, 'tracking_uploaded', TRACKING],
  ['begin-diagnostics', { notes: 'n' }, 'STATUS_CHANGED', DIAGNOSTICS, 'status_changed', from(DIAGNOSTICS)],
  ['begin-repair', TECH, 'STATUS_CHANGED', 'OFFLINE_REPAIR', 'status_changed', from(DIAGNOSTICS, TECH)],
  ['resolve', WRITE_OFF, 'DISPOSITION_SET', RESOLVED, 'disposition_set', from('OFFLINE_REPAIR', WRITE_OFF)],
  ['close', {}, 'CLOSED', 'OFFLINE_CLOSED', 'closed', from(RESOLVED, WRITE_OFF)],
];
const TRADE_WALK: WalkRow[] = [
  ['approve', {}, 'STATUS_CHANGED', 'TRADE_APPROVED', 'status_changed', from('TRADE_SUBMITTED')],
  ['receive', {}, 'STATUS_CHANGED', 'TRADE_RECEIVED', 'status_changed', from('TRADE_APPROVED', RECEIVED)],
  ['request-credit', {}, 'CREDIT_REQUESTED', CREDIT, 'credit_requested', from('TRADE_RECEIVED', AMOUNT)],
  ['resolve', {}, 'RESOLVED', 'TRADE_RESOLVED', 'resolved', from(CREDIT, AMOUNT)],
];

/** The way to a status that no creation begins in. */
const REPAIR_WAY: Record<string, [action: string, body: Body]> = {
  OFFLINE_REPAIR: ['begin-repair', {}],
  OFFLINE_RESOLVED: ['resolve', { offlineDisposition: 'WRITE_OFF' }],
  OFFLINE_CLOSED: ['close', {}],
};

export const REPAIRS: KindRow = {
  kind: 'offline-repairs',
  path: '/offline-repairs',
  rows: 'repairs',
  statuses: OFFLINE_REPAIR_STATUSES,
  start: 'OFFLINE_DIAGNOSTICS',
  body: repairBody,
  whole: wholeRepair,
  nulls: { ...NO_REPAIR_EXTRAS, startStatus: null, tracking: null, faultyItem: { ...ITEM, ...NO_DETAILS } },
  responses: {
    smallest: {
      ...repairBody(),
      ...NOT_YET,
      ...NO_REPAIR_EXTRAS,
      status: 'OFFLINE_DIAGNOSTICS',
      faultyItem: { ...ITEM, ...NO_DETAILS },
      trackingNumber: null,
      carrierName: null,
    },
    whole: { ...wholeRepairEchoed, ...NOT_YET, ...tracking, status: startStatus },
  },
  created: { toStatus: startStatus, note: 'Customer waits', data: TRACKING },
  texts: [
    ...required(128, 'orderNumber', 'storeId', 'faultyItem.sku'),
    ...required(255, 'customerName', 'faultyItem.productName'),
    ...required(5000, 'faultDescription'),
    { path: 'tracking.trackingNumber', shown: 'trackingNumber', max: 128, required: true },
    { path: 'tracking.carrierName', shown: 'carrierName', max: 255, required: true },
    ...optional(128, 'externalRef', 'externalSource', 'replacementSku', 'faultyItem.serialNumber'),
    ...optional(255, 'customerPhone', 'faultyItem.variantTitle'),
    ...optional(5000, 'notes'),
  ],
  item: 'faultyItem',
  hollow: { faultyItem: {}, tracking: {} },
  hollowNeeds: [
    ...['sku', 'productName', 'quantity', 'price'].map((name) => `faultyItem.${name}`),
    'tracking.trackingNumber',
    'tracking.carrierName',
  ],
  strangers: { id: 'x', status: 'OFFLINE_CLOSED', isDangerous: false, items: [TRADE_ITEM] },
  misshapen: { faultyItem: [], tracking: 'JD01', orderNumber: [], notes: [] },
  others: [
    { storeId: 'store-8' },
    { notes: 'x' },
    { startStatus: 'COUNTER_SWAPPED' },
    { faultyItem: { ...ITEM, price: 49.96 } },
    { tracking: TRACKING },
  ],
  filters: ['externalRef', 'externalSource', 'orderNumber', 'storeId'],
  marks: { externalRef: 'R', externalSource: 'S', orderNumber: 'O', storeId: 'T' },
  foreignFilters: ['tradeOrderNumber', 'companyId', 'customerEmail', 'q', 'origin', 'sku'],
  walk: REPAIR_WALK.map(repairStep),
  reach: async (t, status, options) => {
    const [action, body] = REPAIR_WAY[status] ?? [];
    const { id } = await newRepair(t, action ? {} : { startStatus: status }, options);
    if (action) await t.post(`/offline-repairs/${id}/${action}`, body, options);
    return { id };
  },
  note: (t, id, note, caller = staffOf(t)) =>
    offlineRepairs.change(t.ctx, caller, { type: 'note', id, note }),
};

export const TRADE_RETURNS: KindRow = {
  kind: 'trade-returns',
  path: '/trade-returns',
  rows: 'returns',
  statuses: TRADE_RETURN_STATUSES,
  start: 'TRADE_SUBMITTED',
  body: tradeBody,
  whole: wholeTradeBody,
  nulls: { ...NO_TRADE_EXTRAS, items: [{ ...TRADE_ITEM, ...EMPTY_ITEM }] },
  responses: {
    smallest: {
      ...tradeBody(),
      ...NO_TRADE_EXTRAS,
      status: 'TRADE_SUBMITTED',
      items: [{ ...TRADE_ITEM, ...EMPTY_ITEM, line: 1, ...NOTHING_CAME }],
      declaredAmount: 482,
      creditAmount: null,
    },
    whole: {
      ...wholeTradeBody(),
      status: 'TRADE_SUBMITTED',
      items: (wholeTradeBody().items as object[]).map((item, i) => ({
        ...item,
        line: i + 1,
        ...NOTHING_CAME,
      })),
      declaredAmount: 124.87525,
      creditAmount: null,
    },
  },
  created: { toStatus: 'TRADE_SUBMITTED', note: null, data: {} },
  texts: [
    ...required(128, 'tradeOrderNumber', 'companyId', 'items.0.sku', 'shippingAddress.postcode'),
    ...required(255, 'customerName', 'companyName', 'items.0.productName'),
    ...required(255, 'shippingAddress.street', 'shippingAddress.suburb', 'shippingAddress.state'),
    ...required(5000, 'reason'),
    ...optional(128, 'externalRef', 'externalSource', 'items.0.tradeLineItemId'),
    ...optional(255, 'customerPhone', 'items.0.variantTitle'),
    ...optional(5000, 'customerNotes', 'faultDescription', 'additionalComment'),
  ],
  item: 'items.0',
  hollow: { items: [{}, {}], shippingAddress: {} },
  hollowNeeds: [
    ...['items.0', 'items.1'].flatMap((item) =>
      ['sku', 'productName', 'quantity', 'price'].map((name) => `${item}.${name}`),
    ),
    ...Object.keys(ADDRESS).map((name) => `shippingAddress.${name}`),
  ],
  strangers: { id: 'x', status: 'TRADE_RESOLVED', startStatus: 'x', faultyItem: TRADE_ITEM },
  misshapen: { items: TRADE_ITEM, shippingAddress: 'Harbour Road', companyId: [], reason: [] },
  others: [
    { reason: 'Wrong colour' },
    { orderDate: '' },
    { externalRef: 'R' },
    { items: [{ ...TRADE_ITEM, quantity: 5 }] },
    { items: [TRADE_ITEM, TRADE_ITEM] },
    { shippingAddress: { ...ADDRESS, postcode: '3208' } },
  ],
  filters: ['externalRef', 'externalSource', 'tradeOrderNumber', 'companyId'],
  marks: {
    externalRef: 'R',
    externalSource: 'S',
    tradeOrderNumber: 'O',
    companyId: 'C',
    customerEmail: 'c@example.com',
  },
  foreignFilters: ['orderNumber', 'storeId', 'serialNumber', 'q', 'origin', 'sku'],
  walk: TRADE_WALK.map(tradeStep),
  reach: (t, status, options) => tradeReturnIn(t, status as TradeReturnStatus, options),
  note: (t, id, note, caller = staffOf(t)) => tradeReturns.change(t.ctx, caller, { type: 'note', id, note }),
};

export const KINDS = [REPAIRS, TRADE_RETURNS];

/** What the service itself puts into every response. */
export const STAMPS = {
  id: expect.stringMatching(UUID7),
  rmaNumber: '#RMA-000001',
  createdAt: expect.stringMatching(ISO),
  waitingFor: null,
  statusSince: expect.stringMatching(ISO),
  updatedAt: expect.stringMatching(ISO),
  erasedAt: null,
};

/** The RMA after the whole way, each step later than the one before it. */
export const walkThrough = async (t: Harness, { walk }: KindRow, id: string, options?: SendOptions) => {
  for (const { take } of walk) await take(t, id, options);
};
