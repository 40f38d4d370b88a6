import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CreateOfflineRepair } from '../../contract/offline-repair.ts';
import { CreateTradeReturn } from '../../contract/trade-return.ts';
import { ServiceError } from '../../src/platform/errors.ts';
import { BatchDecider, type Facts, LOCKED, type Wanted } from '../../src/returns/changes/decide.ts';
import { keyName, keyUse } from '../../src/returns/idempotency.ts';
import { TRADE_RETURN } from '../../src/returns/kinds/trade-return.ts';
import type { ReturnRow } from '../../src/returns/store.ts';
import type { Counter } from '../../src/shops/counters.ts';
import type { Caller } from '../../src/shops/plans.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { expectSound } from '../support/receipts.ts';

const NOW = Date.parse('2026-11-15T10:00:00.000Z');
const TILL = 'till';

const callerOf = (shopId: string, limit: number | null = null): Caller => ({
  shop: {
    id: shopId,
    name: shopId,
    plan: 'SCALE',
    active: true,
    billing: { kind: 'ALLOWANCE', limit },
    secondFactorRequired: false,
    createdAt: 0,
  },
  actor: { type: 'API_CLIENT', id: TILL, name: 'Till' },
  receiverId: TILL,
});

const counterOf = (shopId: string): Counter => ({
  shop_id: shopId,
  last_number: 0,
  month: '2026-11',
  month_used: 0,
  last_position: 0,
  last_at: 0,
});

const factsOf = (...counters: Counter[]): Facts => ({
  counters: new Map(counters.map((counter) => [counter.shop_id, counter])),
  rows: { offline_repairs: new Map(), trade_returns: new Map() },
  lockedRows: new Set(),
  storedResponses: new Map(),
  dangerous: [],
  receivers: [],
  laterEntries: [],
});

const creation = (id: string, shopId: string): Wanted => ({
  type: 'create',
  kind: 'offline_repairs',
  caller: callerOf(shopId),
  id,
  nowMs: NOW,
  use: null,
  body: CreateOfflineRepair.parse(repairBody()),
});

const decide = (batch: Wanted[], facts: Facts): BatchDecider => {
  const decider = new BatchDecider(facts);
  for (const wanted of batch) decider.add(wanted);
  return decider;
};

describe('deciding on a batch of creations', () => {
  it('skips a shop whose counter another transaction has locked', () => {
    const { results, entries } = decide(
      [creation('a', 'locked'), creation('b', 'one')],
      factsOf(counterOf('one')),
    );
    expect(results[0]).toBe(LOCKED);
    expect(entries.map(({ rma_id }) => rma_id)).toEqual(['b']);
  });

  it('replays a key of the same batch, and refuses it with another body', () => {
    const keyed = (id: string, body: string): Wanted =>
      ({ ...creation(id, 'one'), use: keyUse(TILL, 'receipt', 'offline-repairs', body) }) as Wanted;
    const [first, again, other] = decide(
      [keyed('a', 'body'), keyed('b', 'body'), keyed('c', 'another')],
      factsOf(counterOf('one')),
    ).results;
    expect(again).toMatchObject({ isReplay: true, response: (first as { response: object }).response });
    expect(other).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
  });
});

// --- any changes in any batches ---

const SHOPS = ['north', 'south'];
const PEOPLE = [{ id: 'p1', name: 'Ada' }, { id: 'p2', name: 'Bo' }, null];
const RECEIVER = { id: TILL, shop_id: 'north', events: null };

/** A change of one of a few RMAs, which an earlier change of the sequence has often created. */
const anyWanted: fc.Arbitrary<Wanted> = fc
  .record({
    shop: fc.constantFrom(...SHOPS),
    rma: fc.constantFrom('1', '2', '3'),
    kind: fc.constantFrom('offline_repairs' as const, 'trade_returns' as const),
    nowMs: fc.integer({ min: NOW, max: NOW + 3 }),
    seen: fc.option(fc.integer({ min: NOW - 1, max: NOW + 6 }), { nil: undefined }),
    isStaff: fc.boolean(),
    what: fc.integer({ min: 0, max: 14 }),
    received: fc.constantFrom(0, 1, 2.5, 4, 5),
    accepted: fc.constantFrom(null, 0, 1),
    complete: fc.constantFrom(null, true, false),
    person: fc.constantFrom(...PEOPLE),
    text: fc.constantFrom('x', 'y'),
  })
  .map(({ shop, rma, kind, nowMs, seen, isStaff, what, received, accepted, complete, person, text }) => {
    const caller: Caller = {
      ...callerOf(shop, 4),
      ...(isStaff ? { actor: { type: 'USER', id: 'p1', name: 'Ada' } } : {}),
    };
    const isRepair = kind === 'offline_repairs';
    const common = { kind, caller, nowMs, id: `${shop} ${kind} ${rma}` };
    const body = isRepair ? CreateOfflineRepair.parse(repairBody()) : CreateTradeReturn.parse(tradeBody());
    const use = text === 'x' && !isStaff ? keyUse(TILL, rma, kind, common.id) : null;
    const move = (action: string, moved: object): Wanted =>
      ({ ...common, type: 'move', action, body: moved, seen }) as Wanted;
    const all: Wanted[] = [
      { ...common, type: 'create', body, use },
      { ...common, type: 'create', body, use },
      { ...common, type: 'note', note: text },
      { ...common, type: 'assign', assignee: person },
      { ...common, type: 'correct', fields: { customerName: text, customerPhone: null }, seen },
      ...(isRepair
        ? [
            { ...common, type: 'correct' as const, fields: { serialNumber: text }, seen },
            move('tracking', { trackingNumber: text, carrierName: 'DHL' }),
            move('begin-diagnostics', { notes: null }),
            move('begin-repair', { repairNotes: text, assignedToId: text === 'x' ? null : 'tech' }),
            move('resolve', { offlineDisposition: 'WRITE_OFF', notes: null }),
            move('close', {}),
          ]
        : [
            ...['approve', 'reject', 'receive', 'request-credit', 'resolve'].map((each) =>
              move(each, { note: text }),
            ),
            ...[1, 2, 1].map((line) =>
              move('receive', {
                note: text,
                lines: [{ line, received, accepted: received === 0 ? null : accepted, note: null }],
                complete,
              }),
            ),
            move('request-credit', { note: text === 'x' ? null : text, creditAmount: 100 * received }),
          ]),
    ];
    return all[what % all.length] as Wanted;
  });

interface World {
  facts: Facts;
  log: unknown[];
  totals: Map<string, number>;
  results: unknown[];
}

const newWorld = (): World => ({
  facts: { ...factsOf(...SHOPS.map(counterOf)), receivers: [RECEIVER] },
  log: [],
  totals: new Map(),
  results: [],
});

/** Entries and events have random ids. */
const withoutId = ({ id: _, ...rest }: { id?: unknown }) => rest;

const resultOf = (result: BatchDecider['results'][number]): unknown => {
  if (result === LOCKED) return 'locked';
  if (result instanceof ServiceError) return result.code;
  return { ...result, event: result.event && withoutId(result.event) };
};

/** Decides on a batch and stores the result. An RMA is never created twice: ids are new. */
const apply = (world: World, batch: Wanted[]): World => {
  const { facts } = world;
  const given = structuredClone(facts.counters);
  const decider = decide(batch, facts);
  expect(facts.counters, 'what it is given').toEqual(given);
  const rows = {
    offline_repairs: new Map(facts.rows.offline_repairs),
    trade_returns: new Map(facts.rows.trade_returns),
  };
  for (const { kind, isNew, row, set } of decider.changing.values()) {
    const before = facts.rows[kind].get(row.id);
    // Only changed columns are written, and the search text.
    const { search_text: _, ...written } = set as ReturnRow & { search_text?: string };
    expect(isNew ? written : { ...before, ...written }).toEqual(row);
    rows[kind].set(row.id, row);
  }
  const totals = new Map(world.totals);
  for (const { shop_id, kind, origin, status, count } of decider.totals) {
    const name = [shop_id, kind, origin, status].join(' ');
    totals.set(name, (totals.get(name) ?? 0) + count);
  }
  const later = decider.entries.map(({ rma_id, type, at }) => ({ rma_id, type, at }));
  const kept = decider.responses.map((response) => [keyName(response), response] as const);
  return {
    facts: {
      ...facts,
      counters: decider.counters,
      rows,
      laterEntries: [...facts.laterEntries, ...later],
      storedResponses: new Map([...facts.storedResponses, ...kept]),
    },
    log: [
      ...world.log,
      ...[decider.entries, decider.events, decider.deliveries, decider.audit].flat().map(withoutId),
    ],
    totals,
    results: [...world.results, ...decider.results.map(resultOf)],
  };
};

const isCreated = ({ facts }: World, { kind, id }: Wanted): boolean => facts.rows[kind].has(id);

const cut = (sequence: Wanted[], cuts: boolean[]): Wanted[][] =>
  sequence.reduce<Wanted[][]>((batches, wanted, i) => {
    const last = batches.at(-1);
    if (!last || cuts[i]) batches.push([wanted]);
    else last.push(wanted);
    return batches;
  }, []);

describe('any changes', () => {
  /** A creation of an id that exists becomes a note. */
  const sequence = fc.array(anyWanted, { maxLength: 30 }).map((wanted) => {
    let world = newWorld();
    return wanted.map((each): Wanted => {
      const { kind, caller, id, nowMs } = each;
      const next: Wanted =
        each.type === 'create' && isCreated(world, each)
          ? { kind, caller, id, nowMs, type: 'note', note: 'again' }
          : each;
      world = apply(world, [next]);
      return next;
    });
  });

  it('have the same result in any batches as one by one', () => {
    fc.assert(
      fc.property(sequence, fc.array(fc.boolean()), (wanted, cuts) => {
        const alone = wanted.reduce((world, each) => apply(world, [each]), newWorld());
        const together = cut(wanted, cuts).reduce(apply, newWorld());
        expect(together.results).toEqual(alone.results);
        expect(together.facts).toEqual(alone.facts);
        expect(together.totals).toEqual(alone.totals);
        const lines = ({ log }: World) => log.map((each) => JSON.stringify(each)).sort();
        expect(lines(together)).toEqual(lines(alone));
      }),
      { numRuns: 300 },
    );
  });

  /** One trade return that is approved, then any changes by people and a program. */
  const receiving = fc
    .array(
      anyWanted.filter(({ kind, type }) => kind === 'trade_returns' && type !== 'create'),
      { maxLength: 30 },
    )
    .map((wanted): Wanted[] => {
      const of = { kind: 'trade_returns', id: 'one', nowMs: NOW, caller: callerOf('north') } as const;
      const items = [
        { sku: 'A', productName: 'Lamp', quantity: 4, price: 120.5 },
        { sku: 'B', productName: 'Cable', quantity: 2.5, price: 0.0003 },
      ];
      const rest = wanted.map(
        (each): Wanted => ({ ...each, id: of.id, caller: { ...each.caller, shop: of.caller.shop } }),
      );
      return [
        { ...of, type: 'create', body: CreateTradeReturn.parse(tradeBody({ items })), use: null },
        { ...of, type: 'move', action: 'approve', body: { note: null }, seen: undefined },
        ...rest,
      ];
    });

  it('leave consistent quantities, a credit that is their sum, and events that match the record', () => {
    const told = new Map<string, number>();
    fc.assert(
      fc.property(receiving, (wanted) => {
        for (const [i, result] of decide(wanted, newWorld().facts).results.entries()) {
          if (result === LOCKED) throw new Error('nothing is locked');
          if (result instanceof ServiceError) {
            told.set(result.code, (told.get(result.code) ?? 0) + 1);
            if (result.code === 'MOVE_NOT_ALLOWED')
              expect(result.message).toMatch(/open now: |no move is open/);
            continue;
          }
          const record = JSON.parse(JSON.stringify(TRADE_RETURN.view(result.row as ReturnRow)));
          expectSound(record);
          if (!result.event) continue;
          const { event, timestamp, data } = JSON.parse(result.event.body);
          const { previousStatus: _, ...rest } = data;
          expect(timestamp).toBe(record.updatedAt);
          expect({ i, ...record }).toMatchObject({ i, ...rest });
          told.set(event, (told.get(event) ?? 0) + 1);
        }
      }),
      { numRuns: 500 },
    );
    for (const each of [
      'trade_return.items_received',
      'trade_return.status_changed',
      'trade_return.credit_requested',
      'trade_return.resolved',
      'trade_return.updated',
      'MOVE_NOT_ALLOWED',
      'VALIDATION_FAILED',
      'EDIT_CONFLICT',
    ])
      expect([each, (told.get(each) ?? 0) > 10]).toEqual([each, true]);
  });

  it('have strictly increasing times for each RMA, positions without gaps, and events with the previous status', () => {
    fc.assert(
      fc.property(sequence, (wanted) => {
        const { entries, events, counters } = decide(wanted, newWorld().facts);
        for (const id of new Set(entries.map(({ rma_id }) => rma_id))) {
          const own = entries.filter(({ rma_id }) => rma_id === id);
          expect(own.map(({ at }) => at)).toEqual(
            [...new Set(own.map(({ at }) => at))].sort((a, b) => a - b),
          );
          expect(own.slice(1).map(({ from_status }) => from_status)).toEqual(
            own.slice(0, -1).map(({ to_status }) => to_status),
          );
        }
        for (const shop of SHOPS) {
          const positions = events.filter(({ shop_id }) => shop_id === shop).map(({ position }) => position);
          expect(positions).toEqual(positions.map((_, i) => i + 1));
          expect(counters.get(shop)?.last_position).toBe(positions.length);
        }
        for (const { rma_id, at, body } of events) {
          const { data } = JSON.parse(body);
          const entry = entries.find((each) => each.rma_id === rma_id && each.at === at);
          expect(data.status).toBe(entry?.to_status);
          if ('previousStatus' in data) expect(data.previousStatus).toBe(entry?.from_status);
        }
      }),
      { numRuns: 200 },
    );
  });
});
