import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CreateOfflineRepair } from '../../contract/offline-repair.ts';
import { CreateTradeReturn } from '../../contract/trade-return.ts';
import { Decision, type Facts, LOCKED, type Wanted } from '../../src/returns/changes/decide.ts';
import { keyName, keyUse } from '../../src/returns/idempotency.ts';
import { TRADE_RETURN } from '../../src/returns/kinds/trade-return.ts';
import { ServiceError } from '../../src/service/errors.ts';
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
});

const counterOf = (shopId: string, used: number, month = '2026-11'): Counter => ({
  shop_id: shopId,
  last_number: used,
  month,
  month_used: used,
  last_position: 0,
  last_at: 0,
});

const factsOf = (...counters: Counter[]): Facts => ({
  counters: new Map(counters.map((counter) => [counter.shop_id, counter])),
  rows: { offline_repairs: new Map(), trade_returns: new Map() },
  lockedRows: new Set(),
  keptAnswers: new Map(),
  isDangerous: (_, sku) => sku === 'BATTERY',
  reachable: [],
  latestEntries: new Map(),
});

const creation = (id: string, caller: Caller, sku = 'KETTLE'): Wanted => ({
  type: 'create',
  kind: 'offline_repairs',
  caller,
  id,
  nowMs: NOW,
  use: null,
  body: CreateOfflineRepair.parse({
    ...repairBody(),
    faultyItem: { sku, productName: 'Thing', quantity: 1, price: 1 },
  }),
});

const decide = (batch: Wanted[], facts: Facts): Decision => {
  const decision = new Decision(facts);
  for (const wanted of batch) decision.add(wanted);
  return decision;
};

const answersOf = ({ results }: Decision) =>
  results.map((result) => (result === LOCKED || result instanceof ServiceError ? result : result.answer));

describe('deciding on a batch of creations', () => {
  it('numbers each in its own shop and notes what the shop has used', () => {
    const [one, other] = [callerOf('one'), callerOf('other')];
    const decision = decide(
      [creation('a', one), creation('b', other), creation('c', one)],
      factsOf(counterOf('one', 41), counterOf('other', 7)),
    );
    expect(answersOf(decision)).toMatchObject([
      { rmaNumber: '#RMA-000042' },
      { rmaNumber: '#RMA-000008' },
      { rmaNumber: '#RMA-000043' },
    ]);
    expect(decision.counters.get('one')).toMatchObject({ last_number: 43, month_used: 43 });
  });

  it('refuses those beyond the allowance, and counts nothing for them', () => {
    const caller = callerOf('one', 10);
    const decision = decide([creation('a', caller), creation('b', caller)], factsOf(counterOf('one', 9)));
    expect(decision.results[1]).toBeInstanceOf(ServiceError);
    expect(decision.entries).toHaveLength(1);
    expect(decision.counters.get('one')).toMatchObject({ last_number: 10, month_used: 10 });
  });

  it('skips a shop whose counter another transaction has locked', () => {
    const decision = decide(
      [creation('a', callerOf('locked')), creation('b', callerOf('one'))],
      factsOf(counterOf('one', 0)),
    );
    expect(decision.results[0]).toBe(LOCKED);
    expect(decision.entries.map(({ rma_id }) => rma_id)).toEqual(['b']);
  });

  it('starts a month anew, and counts in none that is still to come', () => {
    const batch = [creation('a', callerOf('one'))];
    expect(decide(batch, factsOf(counterOf('one', 5, '2026-10'))).counters.get('one')).toMatchObject({
      month: '2026-11',
      month_used: 1,
    });
    // Further ahead than clocks can be apart: what was counted there belongs to this month.
    expect(decide(batch, factsOf(counterOf('one', 5, '2026-12'))).counters.get('one')).toMatchObject({
      month: '2026-11',
      month_used: 6,
    });
  });

  it('says what is dangerous, and changes nothing of what it is given', () => {
    const facts = factsOf(counterOf('one', 1));
    const decision = decide([creation('a', callerOf('one'), 'BATTERY')], facts);
    expect(answersOf(decision)).toMatchObject([{ isDangerous: true }]);
    expect(facts.counters.get('one')).toMatchObject({ last_number: 1 });
  });

  it('replays a key of the same batch, and refuses it with another body', () => {
    const keyed = (id: string, sku: string): Wanted => {
      const wanted = creation(id, callerOf('one'), sku);
      return { ...wanted, use: keyUse(TILL, 'receipt', 'offline-repairs', sku) } as Wanted;
    };
    const [first, again, other] = decide(
      [keyed('a', 'KETTLE'), keyed('b', 'KETTLE'), keyed('c', 'TOASTER')],
      factsOf(counterOf('one', 0)),
    ).results;
    expect(again).toMatchObject({ isReplay: true, answer: (first as { answer: object }).answer });
    expect(other).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
  });
});

// --- any changes in any batches ---

const SHOPS = ['north', 'south'];
const PEOPLE = [{ id: 'p1', name: 'Ada' }, { id: 'p2', name: 'Bo' }, null];
const RECEIVER = { id: TILL, shop_id: 'north', replaces: null };

/** A change of one of a few RMAs: the earlier ones of a sequence often have created it. */
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
  facts: { ...factsOf(...SHOPS.map((shop) => counterOf(shop, 0))), reachable: [RECEIVER] },
  log: [],
  totals: new Map(),
  results: [],
});

/** Entries and events have random ids. */
const withoutId = ({ id: _, ...rest }: { id?: unknown }) => rest;

const resultOf = (result: Decision['results'][number]): unknown => {
  if (result === LOCKED) return 'locked';
  if (result instanceof ServiceError) return result.code;
  return { ...result, event: result.event && withoutId(result.event) };
};

/** Decides on a batch and stores what comes of it. An RMA that exists already is never created again: ids are new. */
const apply = (world: World, batch: Wanted[]): World => {
  const { facts } = world;
  const decision = decide(batch, facts);
  const rows = {
    offline_repairs: new Map(facts.rows.offline_repairs),
    trade_returns: new Map(facts.rows.trade_returns),
  };
  for (const { kind, row, set } of decision.changing.values()) {
    const before = facts.rows[kind].get(row.id);
    // What is written is exactly what is different.
    if (set !== null) expect({ ...before, ...set }).toEqual(row);
    rows[kind].set(row.id, row);
  }
  const latestEntries = new Map([...facts.latestEntries].map(([id, entries]) => [id, new Map(entries)]));
  for (const { rma_id, type, at } of decision.entries)
    latestEntries.set(rma_id, (latestEntries.get(rma_id) ?? new Map()).set(type, at));
  const totals = new Map(world.totals);
  for (const { shop_id, kind, origin, status, count } of decision.totals) {
    const name = [shop_id, kind, origin, status].join(' ');
    totals.set(name, (totals.get(name) ?? 0) + count);
  }
  const kept = decision.answers.map(
    (answer) => [keyName({ clientId: answer.client_id, key: answer.key }), answer] as const,
  );
  return {
    facts: {
      ...facts,
      counters: decision.counters,
      rows,
      latestEntries,
      keptAnswers: new Map([...facts.keptAnswers, ...kept]),
    },
    log: [
      ...world.log,
      ...[decision.entries, decision.events, decision.deliveries, decision.audit].flat().map(withoutId),
    ],
    totals,
    results: [...world.results, ...decision.results.map(resultOf)],
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
      const next: Wanted =
        each.type === 'create' && isCreated(world, each)
          ? {
              kind: each.kind,
              caller: each.caller,
              id: each.id,
              nowMs: each.nowMs,
              type: 'note',
              note: 'again',
            }
          : each;
      world = apply(world, [next]);
      return next;
    });
  });

  it('come to the same in any batches as one by one', () => {
    fc.assert(
      fc.property(sequence, fc.array(fc.boolean()), (wanted, cuts) => {
        const alone = wanted.reduce((world, each) => apply(world, [each]), newWorld());
        const together = cut(wanted, cuts).reduce(apply, newWorld());
        expect(together.results).toEqual(alone.results);
        expect(together.facts).toEqual({ ...alone.facts, isDangerous: together.facts.isDangerous });
        expect(together.totals).toEqual(alone.totals);
        const lines = ({ log }: World) => log.map((each) => JSON.stringify(each)).sort();
        expect(lines(together)).toEqual(lines(alone));
      }),
      { numRuns: 300 },
    );
  });

  it('leave figures that fit and a credit that is their sum, and tell what the record holds then', () => {
    let receipts = 0;
    fc.assert(
      fc.property(sequence, (wanted) => {
        for (const result of decide(wanted, newWorld().facts).results) {
          if (result === LOCKED || result instanceof ServiceError) continue;
          if (!result.row || !('company_id' in result.row)) continue;
          const record = JSON.parse(JSON.stringify(TRADE_RETURN.view(result.row)));
          expectSound(record);
          if (!result.event) continue;
          const { event, timestamp, data } = JSON.parse(result.event.body);
          const { previousStatus: _, ...told } = data;
          expect(timestamp).toBe(record.updatedAt);
          expect(record).toMatchObject(told);
          if (event === 'trade_return.items_received') receipts += 1;
        }
      }),
      { numRuns: 500 },
    );
    expect(receipts).toBeGreaterThan(20);
  });

  it('have times that strictly rise for each RMA, positions without gaps, and events that tell the status before', () => {
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
