import {
  OFFLINE_REPAIR_STATUSES,
  type OfflineRepairStatus,
  TRADE_RETURN_STATUSES,
  type TradeReturnStatus,
} from './lifecycle.ts';

// The kinds of returns, each under the name of its table. What names all kinds iterates over this one object; what a kind does when
// it is created, changed or shown is in src/returns/kinds/. Data only: the admin app loads it with its first page.

interface KindFacts<Status extends string> {
  /** As the admin API names it. */
  name: string;
  /** The path of its collection, also in the external API. */
  path: string;
  /** The field that holds its part where an object has one for each kind. */
  field: string;
  /** The field of `Forgetting`. */
  monthsField: string;
  /** The plural at the beginning of a sentence. */
  plural: string;
  /** What the names of its events begin with. */
  event: string;
  /** Whether the shop's oldest receiver gets the events of a return whose own receiver cannot be called. */
  hasFallbackReceiver: boolean;
  statuses: readonly Status[];
  /** Final statuses. */
  ended: readonly Status[];
  /** Statuses that may be erased without `includeOpen`: a resolved repair waits for nothing but its closing. */
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

type Facts<Name extends keyof KindFacts<string>> = (typeof RETURN_KINDS)[ReturnTable][Name];

export type KindField = Facts<'field'>;

/** A value for each kind, by the name of its table. */
export const perKind = <Value>(of: (table: ReturnTable) => Value): Record<ReturnTable, Value> =>
  Object.fromEntries(RETURN_TABLES.map((table) => [table, of(table)])) as Record<ReturnTable, Value>;

const keyedBy =
  <Name extends 'name' | 'field' | 'monthsField'>(name: Name) =>
  <Value>(of: (table: ReturnTable) => Value): Record<Facts<Name>, Value> =>
    Object.fromEntries(RETURN_TABLES.map((table) => [RETURN_KINDS[table][name], of(table)])) as Record<
      Facts<Name>,
      Value
    >;

/** A value for each kind, by its name, or by the field that it has in an object. */
export const perName = keyedBy('name');
export const perField = keyedBy('field');
export const perMonthsField = keyedBy('monthsField');

export type KindName = Facts<'name'>;
export const KIND_NAMES = RETURN_TABLES.map((table): KindName => RETURN_KINDS[table].name);

export type ReturnStatus = Facts<'statuses'>[number];

/** The kind that an event is about; `undefined` for a test event, which is about no return. */
export const kindOfEvent = (event: string): ReturnTable | undefined =>
  RETURN_TABLES.find((table) => event.startsWith(`${RETURN_KINDS[table].event}.`));

/** Final statuses of all kinds. */
export const ENDED: readonly string[] = RETURN_TABLES.flatMap((table) => [...RETURN_KINDS[table].ended]);
