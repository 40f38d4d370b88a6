import type { Assignee, SetWaitingFor } from '../../../contract/admin-returns.ts';
import { rmaNumber } from '../../../contract/common.ts';
import { perKind, RETURN_KINDS, type ReturnTable } from '../../../contract/kinds.ts';
import { MOVE_ENTRIES, type ReturnAction, type TimelineType } from '../../../contract/lifecycle.ts';
import { auditRow } from '../../audit/store.ts';
import type { Row } from '../../db/schema.ts';
import { buildEvent, type Event, type LoggedEvent } from '../../events/event.ts';
import { newId } from '../../lib/ids.ts';
import { toIso } from '../../lib/time.ts';
import { ServiceError } from '../../platform/errors.ts';
import { consumeAllowance } from '../../shops/allowance.ts';
import { type Counter, nextNumber, nextTimestamp } from '../../shops/counters.ts';
import type { Good } from '../../shops/dangerous-goods.ts';
import type { Caller, Receiver } from '../../shops/plans.ts';
import { deliveryOf, type NewDelivery } from '../../webhooks/outbox.ts';
import { type KeyUse, keyName, recall, type StoredResponses } from '../idempotency.ts';
import type { ChangePlan } from '../kinds/change-plan.ts';
import {
  type Correction,
  type CreateBody,
  commonColumns,
  correction,
  fullEvent,
  type Kind,
  updatedEvent,
} from '../kinds/kind.ts';
import { KINDS } from '../kinds/kinds.ts';
import { SEARCHED_COLUMNS, searchText } from '../search-text.ts';
import { isVisibleTo, notFound, type ReturnRow } from '../store.ts';
import { countedAs, originOf, type Total } from '../totals.ts';
import { NOT_WAITING, planWaiting } from '../waiting.ts';

// Decides on the changes of a batch one after another, from the wanted changes and the rows that were read. It is pure.

/** One change, as data. Timeline entries after `seen` refuse it, since its author did not know them. */
export type Wanted = { kind: ReturnTable; caller: Caller; nowMs: number } & WhatIsWanted;
export type WhatIsWanted = { id: string } & (
  | { type: 'create'; body: CreateBody; use: KeyUse | null }
  | { type: 'move'; action: ReturnAction; body: object; seen: number | undefined }
  | { type: 'note'; note: string }
  | { type: 'assign'; assignee: Assignee | null }
  | { type: 'wait'; waiting: SetWaitingFor | null; seen: number | undefined }
  | { type: 'correct'; fields: Correction; seen: number | undefined }
  // `columns` are the new values of columns with personal data. A silent erasure has no event.
  | { type: 'erase'; columns: Record<string, string | null>; isSilent: boolean }
);
type OfType<Type extends Wanted['type']> = Extract<Wanted, { type: Type }>;

export interface Facts {
  /** Counters of the shops, without those that another transaction has locked. */
  counters: ReadonlyMap<string, Counter>;
  rows: Record<ReturnTable, ReadonlyMap<string, ReturnRow>>;
  lockedRows: ReadonlySet<string>;
  storedResponses: StoredResponses;
  /** The goods of the batch that are dangerous. */
  dangerous: Good[];
  receivers: Receiver[];
  /** Timeline entries of returns after the time at which a caller saw them. */
  laterEntries: Pick<Row<'timeline'>, 'rma_id' | 'type' | 'at'>[];
}

export interface Changed {
  /** The return after the change; null for a creation that was replayed. */
  row: ReturnRow | null;
  response: object | null;
  isReplay: boolean;
  event: LoggedEvent | null;
  receiver: string | null;
}

/** The result if another transaction has locked the shop's counter or the return: nothing was decided. */
export const LOCKED: unique symbol = Symbol('locked');

export type ChangeResult = Changed | ServiceError | typeof LOCKED;

interface Changing {
  kind: ReturnTable;
  isNew: boolean;
  row: ReturnRow;
  /** The columns to write, including the search text if it changes; for a new return, all columns. */
  set: object;
}

/** A batch in progress: the state after the changes so far, and the rows to write. */
export class BatchDecider {
  readonly #facts: Facts;
  readonly counters: Map<string, Counter>;
  readonly #rows: Record<ReturnTable, Map<string, ReturnRow>>;
  readonly #storedResponses: Map<string, Row<'idempotency_keys'>>;
  /** Changed returns by id. One that changes several times is written once. */
  readonly changing = new Map<string, Changing>();
  readonly results: ChangeResult[] = [];
  readonly entries: Row<'timeline'>[] = [];
  readonly events: LoggedEvent[] = [];
  readonly deliveries: NewDelivery[] = [];
  readonly totals: Total[] = [];
  readonly audit: ReturnType<typeof auditRow>[] = [];
  readonly responses: Row<'idempotency_keys'>[] = [];

  constructor(facts: Facts) {
    this.#facts = facts;
    this.counters = new Map([...facts.counters].map(([shopId, counter]) => [shopId, { ...counter }]));
    this.#rows = perKind((kind) => new Map(facts.rows[kind]));
    this.#storedResponses = new Map(facts.storedResponses);
  }

  /** Decides on one change. A refusal affects only this change. */
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
    // API clients may erase returns that staff created, although they do not see them.
    const isKnown =
      wanted.type === 'erase'
        ? before?.shop_id === counter.shop_id
        : before && isVisibleTo(wanted.caller, before);
    if (!before || !isKnown) throw notFound(wanted.id);
    if (before.erased_at !== null) throw new ServiceError('ERASED');
    // The times of a return strictly increase, even if two changes happen in the same millisecond.
    const at = Math.max(wanted.nowMs, before.updated_at + 1, counter.last_at);
    const plan = planOf(wanted, before, at);
    // A change without effect was made before, perhaps by the same caller, who lost the response.
    if (plan || wanted.type === 'correct') this.#mustBeUnchanged(wanted);
    return plan
      ? this.#change({ ...wanted, nowMs: at }, counter, before, plan)
      : { row: before, response: null, isReplay: false, event: null, receiver: null };
  }

  #create(wanted: OfType<'create'>, counter: Counter): Changed {
    const { caller, use, body, nowMs } = wanted;
    const first = use && recall(this.#storedResponses, use, nowMs);
    if (first) return { row: null, response: first, isReplay: true, event: null, receiver: null };
    const kind = KINDS[wanted.kind];
    consumeAllowance(counter, caller, nowMs);
    const number = nextNumber(counter);
    const at = nextTimestamp(counter, nowMs);
    const sku = kind.skuOf(body);
    const isDangerous = this.#facts.dangerous.some(
      (good) => good.shop_id === caller.shop.id && good.sku === sku,
    );
    const { columns, note, data } = kind.create(body, isDangerous);
    const row = { ...commonColumns(caller, wanted.id, body, number, at), ...columns } as ReturnRow;
    const response = kind.view(row);
    const set = { ...row, ...searchedIn(wanted.kind, row) };
    this.changing.set(row.id, { kind: wanted.kind, isNew: true, row, set });
    if (use) {
      const kept = { ...use, response: JSON.stringify(response), created_at: nowMs };
      this.#storedResponses.set(keyName(use), kept);
      this.responses.push(kept);
    }
    const event = () => fullEvent(`${RETURN_KINDS[kind.table].event}.created`, response);
    return { ...this.#record(wanted, counter, null, row, { entry: 'CREATED', note, data, event }), response };
  }

  #change(wanted: Wanted, counter: Counter, before: ReturnRow, plan: ChangePlan): Changed {
    const at = nextTimestamp(counter, wanted.nowMs);
    const entersStatus = (plan.set.status ?? before.status) !== before.status;
    const entering = entersStatus ? { status_since: at, due_from: null, ...NOT_WAITING } : {};
    const set = { ...plan.set, updated_at: at, ...entering };
    const row = { ...before, ...set } as ReturnRow;
    // A damaged row fails here, before the commit. Otherwise the response would fail after it, and each retry would repeat the event.
    if (wanted.type !== 'erase') KINDS[wanted.kind].view(row);
    const { isNew = false, set: earlier } = this.changing.get(row.id) ?? {};
    const searched = SEARCHED_COLUMNS.some((column) => column in set) && searchedIn(wanted.kind, row);
    this.changing.set(row.id, { kind: wanted.kind, isNew, row, set: { ...earlier, ...set, ...searched } });
    if (plan.entry === 'CORRECTED')
      this.audit.push(
        auditRow({
          shopId: row.shop_id,
          at,
          actor: wanted.caller.actor,
          action: 'RETURN_CORRECTED',
          subject: { type: 'RETURN', id: row.id, name: rmaNumber(row.number) },
          data: { fields: Object.keys(plan.data) },
        }),
      );
    return this.#record(wanted, counter, before, row, plan);
  }

  /** Records a change together with its timeline entry, event, delivery and totals. */
  #record(
    { kind, caller }: Wanted,
    counter: Counter,
    before: ReturnRow | null,
    row: ReturnRow,
    { entry, note, data, event: eventOf }: Omit<ChangePlan, 'set'>,
  ): Changed {
    const at = row.updated_at;
    this.#rows[kind].set(row.id, row);
    this.entries.push({
      rma_id: row.id,
      at,
      id: newId(at),
      type: entry,
      actor_type: caller.actor.type,
      actor_id: caller.actor.id,
      actor_name: caller.actor.name,
      from_status: before?.status ?? null,
      to_status: row.status,
      note,
      data: JSON.stringify(data),
    });
    this.totals.push(...totalChanges(kind, before, row));
    // API clients do not see a return that staff created.
    const event = eventOf && row.receiver_id ? buildEvent(counter, row, at, eventOf(row)) : null;
    const delivery =
      event && row.receiver_id && deliveryOf(caller.shop, row.receiver_id, event, this.#facts.receivers);
    if (event) this.events.push(event);
    if (delivery) this.deliveries.push(delivery);
    return { row, response: null, isReplay: false, event, receiver: delivery ? delivery.receiver_id : null };
  }

  #mustBeUnchanged(wanted: Wanted): void {
    if (!('seen' in wanted) || wanted.seen === undefined) return;
    const { id, seen } = wanted;
    const conflicting = CONFLICTING[wanted.type];
    const later = [...this.#facts.laterEntries, ...this.entries].filter(
      ({ rma_id, at }) => rma_id === id && at > seen,
    );
    if (later.some(({ type }) => conflicting.includes(type))) throw new ServiceError('EDIT_CONFLICT');
  }
}

/** The entries that refuse a change if its caller has not seen them. */
const CONFLICTING: Record<'move' | 'wait' | 'correct', readonly TimelineType[]> = {
  move: MOVE_ENTRIES,
  wait: [...MOVE_ENTRIES, 'WAITING_SET', 'WAITING_CLEARED'],
  correct: ['CORRECTED'],
};

const searchedIn = (kind: ReturnTable, row: ReturnRow) => ({
  search_text: searchText(row, KINDS[kind].searchedIn(row)),
});

const planOf = (
  wanted: Exclude<Wanted, OfType<'create'>>,
  before: ReturnRow,
  at: number,
): ChangePlan | null => {
  const kind = KINDS[wanted.kind];
  switch (wanted.type) {
    case 'move':
      return kind.move(before, wanted.action, wanted.body);
    case 'note':
      return { set: {}, entry: 'NOTE_ADDED', note: wanted.note, data: {}, event: null };
    case 'assign':
      return assignment(kind, before, wanted.assignee);
    case 'wait': {
      const plan = planWaiting(wanted.kind, before, wanted.waiting, at);
      return plan && { ...plan, event: updatedEvent(kind) };
    }
    case 'correct':
      return correction(kind, before, wanted.fields);
    case 'erase': {
      const set = { ...wanted.columns, ...NOT_WAITING, erased_at: at };
      const event = {
        name: `${RETURN_KINDS[kind.table].event}.erased`,
        data: { erasedAt: toIso(at) },
      } as Event;
      return { set, entry: 'ERASED', note: null, data: {}, event: wanted.isSilent ? null : () => event };
    }
  }
};

const assignment = (kind: Kind, before: ReturnRow, assignee: Assignee | null): ChangePlan | null => {
  const assigneeId = assignee?.id ?? null;
  if (before.assignee_id === assigneeId) return null;
  const data = { assigneeId, assigneeName: assignee?.name ?? null };
  return { set: { assignee_id: assigneeId }, entry: 'ASSIGNED', note: null, data, event: updatedEvent(kind) };
};

const totalChanges = (kind: ReturnTable, before: ReturnRow | null, row: ReturnRow): Total[] => {
  const [from, to] = [before && countedAs(kind, before), countedAs(kind, row)];
  if (from === to) return [];
  const of = { shop_id: row.shop_id, kind, origin: originOf(row) };
  const entered = { ...of, status: to, count: 1 };
  return from === null ? [entered] : [{ ...of, status: from, count: -1 }, entered];
};
