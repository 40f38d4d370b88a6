import {
  OFFLINE_REPAIR_STATUSES,
  type OfflineRepairStatus,
  TRADE_RETURN_STATUSES,
  type TradeReturnStatus,
} from './lifecycle.ts';

// The kinds of returns, each under the name of its table. Code for all kinds iterates over this object. src/returns/kinds/
// defines how a kind is created, changed and shown. This is plain data, because the admin app loads it with its first page.

interface KindFacts<Status extends string> {
  /** The name in the admin API. */
  name: string;
  /** The path of its collection in both APIs. */
  path: string;
  /** The field for this kind in objects with a field for each kind. */
  field: string;
  /** The field for this kind in `Forgetting`. */
  monthsField: string;
  /** The plural at the beginning of a sentence. */
  plural: string;
  /** The prefix of its event names. */
  event: string;
  /** True if the shop's oldest receiver gets the events of a return whose own receiver is unusable. */
  hasFallbackReceiver: boolean;
  statuses: readonly Status[];
  /** The final statuses. */
  ended: readonly Status[];
  /** The statuses that may be erased without `includeOpen`. A resolved repair only needs to be closed. */
  erasable: readonly Status[];
}

export const RETURN_KINDS = {
  offline_repairs: {
    name: 'OFFLINE_REPAIR',
    path: 'offline-repairs',
    field: 'offlineRepairs',
    monthsField: 'offlineRepairMonths',
    plural: 'Repairs',
    event: 'offline_repair',
    hasFallbackReceiver: false,
    statuses: OFFLINE_REPAIR_STATUSES,
    ended: ['OFFLINE_CLOSED'],
    erasable: ['OFFLINE_RESOLVED', 'OFFLINE_CLOSED'],
  },
  trade_returns: {
    name: 'TRADE_RETURN',
    path: 'trade-returns',
    field: 'tradeReturns',
    monthsField: 'tradeReturnMonths',
    plural: 'Trade returns',
    event: 'trade_return',
    hasFallbackReceiver: true,
    statuses: TRADE_RETURN_STATUSES,
    ended: ['TRADE_REJECTED', 'TRADE_RESOLVED'],
    erasable: ['TRADE_REJECTED', 'TRADE_RESOLVED'],
  },
} as const satisfies {
  offline_repairs: KindFacts<OfflineRepairStatus>;
  trade_returns: KindFacts<TradeReturnStatus>;
};

export type ReturnTable = keyof typeof RETURN_KINDS;
export const RETURN_TABLES = Object.keys(RETURN_KINDS) as ReturnTable[];

type FactOf<Name extends keyof KindFacts<string>> = (typeof RETURN_KINDS)[ReturnTable][Name];

export type KindField = FactOf<'field'>;

/** A value for each kind, by the name of its table. */
export const perKind = <Value>(of: (table: ReturnTable) => Value): Record<ReturnTable, Value> =>
  Object.fromEntries(RETURN_TABLES.map((table) => [table, of(table)])) as Record<ReturnTable, Value>;

const keyedBy =
  <Name extends 'name' | 'field' | 'monthsField'>(name: Name) =>
  <Value>(of: (table: ReturnTable) => Value): Record<FactOf<Name>, Value> =>
    Object.fromEntries(RETURN_TABLES.map((table) => [RETURN_KINDS[table][name], of(table)])) as Record<
      FactOf<Name>,
      Value
    >;

/** A value for each kind, by its name, or by the field that it has in an object. */
export const perName = keyedBy('name');
export const perField = keyedBy('field');
export const perMonthsField = keyedBy('monthsField');

export type KindName = FactOf<'name'>;
export const KIND_NAMES = RETURN_TABLES.map((table): KindName => RETURN_KINDS[table].name);

export type ReturnStatus = FactOf<'statuses'>[number];

/** Returns the kind that an event is about, or `undefined` for a test event, which is about no return. */
export const kindOfEvent = (event: string): ReturnTable | undefined =>
  RETURN_TABLES.find((table) => event.startsWith(`${RETURN_KINDS[table].event}.`));

/** Final statuses of all kinds. */
export const FINAL_STATUSES: readonly string[] = RETURN_TABLES.flatMap((table) => [
  ...RETURN_KINDS[table].ended,
]);
