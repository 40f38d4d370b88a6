import type { Assignee } from '../../../contract/admin-returns.ts';
import { rmaNumber } from '../../../contract/common.ts';
import { MOVE_ENTRIES, type TimelineType } from '../../../contract/lifecycle.ts';
import { auditRow } from '../../audit/store.ts';
import type { Row } from '../../db/schema.ts';
import { buildEvent, type LoggedEvent } from '../../events/event.ts';
import { newId } from '../../lib/ids.ts';
import { ServiceError } from '../../service/errors.ts';
import { type Counter, consumeAllowance, nextTimestamp } from '../../shops/counters.ts';
import type { Caller } from '../../shops/plans.ts';
import { deliveryOf, type NewDelivery, type Reachable } from '../../webhooks/outbox.ts';
import { type KeptAnswers, type KeyUse, keptAnswer, keyName, recall } from '../idempotency.ts';
import {
  type Action,
  type Correction,
  type CreateBody,
  commonColumns,
  correction,
  type Kind,
  type Step,
  updatedEvent,
  wholeEvent,
} from '../kinds/kind.ts';
import { OFFLINE_REPAIR } from '../kinds/offline-repair.ts';
import { TRADE_RETURN } from '../kinds/trade-return.ts';
import { SEARCHED_COLUMNS, searchText } from '../search.ts';
import { isVisibleTo, notFound, type ReturnRow, type RmaTableName } from '../store.ts';
import { countedAs, originOf, type TotalChange } from '../totals.ts';

// Decides on each change of a batch in turn, from what is wanted and what was read. Nothing here waits, reads or writes.

export const KINDS: Record<RmaTableName, Kind> = {
  offline_repairs: OFFLINE_REPAIR,
  trade_returns: TRADE_RETURN,
};

/** One change, as data. Entries later than `seen` refuse it: the person who decided on it did not know them. */
export type Wanted = { kind: RmaTableName; caller: Caller; nowMs: number } & WhatIsWanted;
export type WhatIsWanted = { id: string } & (
  | { type: 'create'; body: CreateBody; use: KeyUse | null }
  | { type: 'move'; action: Action; body: object; seen: number | undefined }
  | { type: 'note'; note: string }
  | { type: 'assign'; assignee: Assignee | null }
  | { type: 'correct'; fields: Correction; seen: number | undefined }
);
type OfType<Type extends Wanted['type']> = Extract<Wanted, { type: Type }>;

type LatestEntries = ReadonlyMap<string, ReadonlyMap<TimelineType, number>>;

export interface Facts {
  /** Without those that another transaction has locked. */
  counters: ReadonlyMap<string, Counter>;
  rows: Record<RmaTableName, ReadonlyMap<string, ReturnRow>>;
  /** RMAs whose rows another transaction has locked. */
  lockedRows: ReadonlySet<string>;
  keptAnswers: KeptAnswers;
  isDangerous(shopId: string, sku: string): boolean;
  reachable: Reachable[];
  latestEntries: LatestEntries;
}

export interface Changed {
  /** The RMA as it stands now; null for a creation that was made before. */
  row: ReturnRow | null;
  answer: object | null;
  isReplay: boolean;
  event: LoggedEvent | null;
  receiver: string | null;
}

/** Another transaction has locked the shop's counter, or the RMA: nothing was decided. */
export const LOCKED: unique symbol = Symbol('locked');

export type ChangeResult = Changed | ServiceError | typeof LOCKED;

interface Changing {
  kind: RmaTableName;
  row: ReturnRow;
  /** null: it is inserted whole. */
  set: Record<string, unknown> | null;
}

/** A batch that is being decided on: what was read, as the changes so far have left it, and what is to be written. */
export class Decision {
  readonly #facts: Facts;
  readonly counters: Map<string, Counter>;
  readonly #rows: Record<RmaTableName, Map<string, ReturnRow>>;
  readonly #keptAnswers: Map<string, Row<'idempotency_keys'>>;
  readonly #latestEntries = new Map<string, Map<TimelineType, number>>();
  /** By id. An RMA that changes several times is written once. */
  readonly changing = new Map<string, Changing>();
  readonly results: ChangeResult[] = [];
  readonly entries: Row<'timeline'>[] = [];
  readonly events: LoggedEvent[] = [];
  readonly deliveries: NewDelivery[] = [];
  readonly totals: TotalChange[] = [];
  readonly audit: ReturnType<typeof auditRow>[] = [];
  readonly answers: Row<'idempotency_keys'>[] = [];

  constructor(facts: Facts) {
    this.#facts = facts;
    this.counters = new Map([...facts.counters].map(([shopId, counter]) => [shopId, { ...counter }]));
    this.#rows = {
      offline_repairs: new Map(facts.rows.offline_repairs),
      trade_returns: new Map(facts.rows.trade_returns),
    };
    this.#keptAnswers = new Map(facts.keptAnswers);
  }

  /** A refusal concerns this change only, and leaves no trace. */
  add(wanted: Wanted): void {
    try {
      this.results.push(this.#decide(wanted));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.results.push(error);
    }
  }

  #decide(wanted: Wanted): Changed | typeof LOCKED {
    const counter = this.counters.get(wanted.caller.shop.id);
    if (!counter || this.#facts.lockedRows.has(wanted.id)) return LOCKED;
    if (wanted.type === 'create') return this.#create(wanted, counter);
    const before = this.#rows[wanted.kind].get(wanted.id);
    if (!before || !isVisibleTo(wanted.caller, before)) throw notFound(wanted.id);
    if (before.erased_at !== null) throw new ServiceError('ERASED');
    const step = stepOf(wanted, before);
    // A move that would change nothing was made already, perhaps by the same caller, who lost the answer.
    if (step || wanted.type !== 'move') this.#mustBeUnchanged(wanted);
    return step
      ? this.#change(wanted, counter, before, step)
      : { row: before, answer: null, isReplay: false, event: null, receiver: null };
  }

  #create(wanted: OfType<'create'>, counter: Counter): Changed {
    const { caller, use, body, nowMs } = wanted;
    const first = use && recall(this.#keptAnswers, use, nowMs);
    if (first) return { row: null, answer: first, isReplay: true, event: null, receiver: null };
    const kind = KINDS[wanted.kind];
    const number = consumeAllowance(counter, caller.shop, nowMs);
    const at = nextTimestamp(counter, nowMs);
    const sku = kind.skuOf(body);
    const isDangerous = sku !== null && this.#facts.isDangerous(caller.shop.id, sku);
    const { columns, note, data } = kind.create(body, isDangerous);
    const row = { ...commonColumns(caller, wanted.id, body, number, at), ...columns } as ReturnRow;
    const answer = kind.view(row);
    this.changing.set(row.id, { kind: wanted.kind, row, set: null });
    if (use) {
      const kept = keptAnswer(use, answer, nowMs);
      this.#keptAnswers.set(keyName(use), kept);
      this.answers.push(kept);
    }
    const event = () => wholeEvent(kind.events.created, answer);
    return { ...this.#record(wanted, counter, null, row, { entry: 'CREATED', note, data, event }), answer };
  }

  #change(wanted: Wanted, counter: Counter, before: ReturnRow, step: Step): Changed {
    // Times of one RMA strictly rise, also when two changes fall into the same millisecond.
    const at = nextTimestamp(counter, Math.max(wanted.nowMs, before.updated_at + 1));
    const entersStatus = (step.set.status ?? before.status) !== before.status;
    const set = { ...step.set, updated_at: at, ...(entersStatus ? { status_since: at } : {}) };
    const row = { ...before, ...set } as ReturnRow;
    const earlier = this.changing.get(row.id);
    this.changing.set(row.id, {
      kind: wanted.kind,
      row,
      set: earlier?.set === null ? null : { ...earlier?.set, ...set },
    });
    if (step.corrected)
      this.audit.push(
        auditRow({
          shopId: row.shop_id,
          at,
          actor: wanted.caller.actor,
          action: 'RETURN_CORRECTED',
          subject: { type: 'RETURN', id: row.id, name: rmaNumber(row.number) },
          data: { fields: step.corrected },
        }),
      );
    return this.#record(wanted, counter, before, row, step);
  }

  /** No change without its timeline entry, its event, its delivery and its place in the totals, and none of these without it. */
  #record(
    { kind, caller }: Wanted,
    counter: Counter,
    before: ReturnRow | null,
    row: ReturnRow,
    { entry, note, data, event: eventOf }: Omit<Step, 'set'>,
  ): Changed {
    const at = row.updated_at;
    this.#rows[kind].set(row.id, row);
    this.#noteEntry(row.id, entry, at);
    this.entries.push(entryOf(caller, before, row, { entry, note, data }));
    this.totals.push(...totalChanges(kind, before, row));
    // API clients do not see an RMA that staff created.
    const event = eventOf && row.client_id ? buildEvent(counter, row, at, eventOf(row)) : null;
    const delivery =
      event && row.client_id && deliveryOf(caller.shop, row.client_id, event, this.#facts.reachable);
    if (event) this.events.push(event);
    if (delivery) this.deliveries.push(delivery);
    return { row, answer: null, isReplay: false, event, receiver: delivery ? delivery.client_id : null };
  }

  #noteEntry(rmaId: string, type: TimelineType, at: number): void {
    const latest = this.#latestEntries.get(rmaId) ?? new Map(this.#facts.latestEntries.get(rmaId));
    this.#latestEntries.set(rmaId, latest.set(type, at));
  }

  #mustBeUnchanged(wanted: Wanted): void {
    if (!('seen' in wanted) || wanted.seen === undefined) return;
    const { id, seen } = wanted;
    const latest = this.#latestEntries.get(id) ?? this.#facts.latestEntries.get(id);
    const entries = wanted.type === 'correct' ? (['CORRECTED'] as const) : MOVE_ENTRIES;
    if (entries.some((type) => (latest?.get(type) ?? 0) > seen)) throw new ServiceError('EDIT_CONFLICT');
  }
}

/** null: there is nothing to change. */
const stepOf = (wanted: Exclude<Wanted, OfType<'create'>>, before: ReturnRow): Step | null => {
  const kind = KINDS[wanted.kind];
  switch (wanted.type) {
    case 'move':
      return kind.move(before, wanted.action, wanted.body);
    case 'note':
      return { set: {}, entry: 'NOTE_ADDED', note: wanted.note, data: {}, event: null };
    case 'assign':
      return assignment(kind, before, wanted.assignee);
    case 'correct':
      return correction(kind, before, wanted.fields);
  }
};

const assignment = (kind: Kind, before: ReturnRow, assignee: Assignee | null): Step | null => {
  const assigneeId = assignee?.id ?? null;
  if (before.assignee_id === assigneeId) return null;
  const data = { assigneeId, assigneeName: assignee?.name ?? null };
  return { set: { assignee_id: assigneeId }, entry: 'ASSIGNED', note: null, data, event: updatedEvent(kind) };
};

export const entryOf = (
  { actor }: Pick<Caller, 'actor'>,
  before: ReturnRow | null,
  row: ReturnRow,
  { entry, note, data }: Pick<Step, 'entry' | 'note' | 'data'>,
): Row<'timeline'> => ({
  rma_id: row.id,
  at: row.updated_at,
  id: newId(row.updated_at),
  type: entry,
  actor_type: actor.type,
  actor_id: actor.id,
  actor_name: actor.name,
  from_status: before?.status ?? null,
  to_status: row.status,
  note,
  data: JSON.stringify(data),
});

export const totalChanges = (kind: RmaTableName, before: ReturnRow | null, row: ReturnRow): TotalChange[] => {
  const [from, to] = [before && countedAs(kind, before), countedAs(kind, row)];
  if (from === to) return [];
  const of = { shop_id: row.shop_id, kind, origin: originOf(row) };
  const entered = { ...of, status: to, count: 1 };
  return from === null ? [entered] : [{ ...of, status: from, count: -1 }, entered];
};

/** What staff search in, where that is inserted or changes. */
export const searchTextFor = ({ kind, row, set }: Changing): { search_text?: string } =>
  set === null || SEARCHED_COLUMNS.some((column) => column in set)
    ? { search_text: searchText(row, KINDS[kind].searchedIn(row)) }
    : {};
