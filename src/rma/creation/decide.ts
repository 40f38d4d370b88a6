import { ServiceError } from '../../errors.ts';
import { logged } from '../../events/event.ts';
import { takePlace } from '../../shops/allowance.ts';
import { type Counters, takeInstant } from '../../shops/counters.ts';
import type { Created, KeyUse } from '../idempotency.ts';
import type { Change } from '../record.ts';
import type { RmaTableName } from '../visibility.ts';
import type { Creation, NewRma } from './creation.ts';
import type { Facts } from './read.ts';

/** Somebody else holds the shop's counters: nothing was decided. */
export const HELD: unique symbol = Symbol('held');

type Outcome = Created<unknown> | ServiceError | typeof HELD;

/** What becomes of a batch: an outcome for each creation, in their order, and what is to be written. */
export interface Decision {
  outcomes: Outcome[];
  rows: Record<RmaTableName, object[]>;
  changes: Change[];
  answers: { use: KeyUse; answer: unknown; nowMs: number }[];
  counters: Counters;
}

/** Decides on each creation of a batch for itself. Changes nothing of what it is given. */
export const decide = (batch: Creation[], facts: Facts): Decision => {
  const decision: Decision = {
    outcomes: [],
    rows: { offline_repairs: [], trade_returns: [] },
    changes: [],
    answers: [],
    counters: new Map([...facts.counters].map(([shopId, counter]) => [shopId, { ...counter }])),
  };
  for (const creation of batch) decision.outcomes.push(decideOrRefuse(creation, facts, decision));
  return decision;
};

const decideOrRefuse = (creation: Creation, facts: Facts, decision: Decision): Outcome => {
  try {
    return decideOne(creation, facts, decision);
  } catch (refusal) {
    if (refusal instanceof ServiceError) return refusal;
    throw refusal;
  }
};

const decideOne = (creation: Creation, facts: Facts, decision: Decision): Outcome => {
  const { caller, request, use, nowMs } = creation;
  const { shop, actor } = caller;
  const first = use && facts.memory.recall(use, nowMs);
  if (first) return { answer: first, replayed: true };
  const counter = decision.counters.get(shop.id);
  if (!counter) return HELD;
  const number = takePlace(counter, shop, nowMs);
  const at = takeInstant(counter, nowMs);
  const rma: NewRma = {
    id: creation.id,
    shop_id: shop.id,
    client_id: actor.type === 'API_CLIENT' ? actor.id : null,
    number,
    external_ref: request.body.externalRef,
    external_source: request.body.externalSource,
    created_at: at,
    updated_at: at,
    status_since: at,
    assignee_id: null,
  };
  const isDangerous = request.sku !== undefined && facts.isDangerous(shop.id, request.sku);
  const { row, answer, event, note = null, data = {} } = request.make(rma, isDangerous);
  decision.rows[request.kind].push(row);
  decision.changes.push({
    caller,
    kind: request.kind,
    rma: row,
    type: 'CREATED',
    at,
    fromStatus: null,
    note,
    data,
    event: logged(counter, row, at, event),
  });
  if (use) decision.answers.push({ use, answer, nowMs });
  return { answer, replayed: false };
};
