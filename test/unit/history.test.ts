import { describe, expect, it } from 'vitest';
import { check, RULE_NAMES, type RuleName } from '../support/history/check.ts';
import type { History } from '../support/history/history.ts';
import type { Kept, KeptDelivery, KeptEvent } from '../support/history/kept.ts';

// The checker of the fault runs, on handmade histories: a correct one, and the same with a single error.

const NOON = Date.parse('2026-11-16T12:00:00.000Z');
const [SHOP, TILL] = ['shop', 'till'];

interface Run {
  history: History;
  kept: Kept;
}

const event = (position: number, rmaId: string, name: string, data: object): KeptEvent => {
  const at = NOON + position;
  const body = { event: name, timestamp: new Date(at).toISOString(), data: { id: rmaId, ...data } };
  return {
    id: `event-${position}`,
    shopId: SHOP,
    position,
    rmaId,
    event: name,
    at,
    body: JSON.stringify(body),
  };
};

const EVENTS = [
  event(1, 'kettle', 'offline_repair.created', { status: 'OFFLINE_DIAGNOSTICS' }),
  event(2, 'lamp', 'trade_return.created', { status: 'TRADE_SUBMITTED' }),
  event(3, 'kettle', 'offline_repair.status_changed', {
    status: 'OFFLINE_REPAIR',
    previousStatus: 'OFFLINE_DIAGNOSTICS',
  }),
  event(4, 'kettle', 'offline_repair.tracking_uploaded', { status: 'OFFLINE_REPAIR' }),
];

const tried = (position: number, statusCodes: number[]): KeptDelivery => ({
  id: `event-${position}`,
  status: statusCodes.at(-1) === 200 ? 'DELIVERED' : 'DROPPED',
  attempts: statusCodes.length,
  log: statusCodes.map((statusCode) => ({ at: NOON, durationMs: 1, statusCode, error: null })),
});

const creation = (id: string, key: string | null, number: number) => ({
  clientId: TILL,
  key,
  id,
  rmaNumber: `#RMA-00000${number}`,
  response: JSON.stringify({ id }),
});
const move = (event: string, atMs: number) => ({
  rmaId: 'kettle',
  event: `offline_repair.${event}`,
  timestamp: new Date(atMs).toISOString(),
});

/** The receiver's responses, one for each attempt. */
const DELIVERIES: [number, number[]][] = [
  [1, [200]],
  [2, [503, 200]],
  [3, [500, 500, 500, 500]],
  [4, [200]],
];

/** Two returns: one moved twice, one created twice with the same key; one event was dropped, one delivered twice. */
const goodRun = (): Run => {
  const receipts = DELIVERIES.flatMap(([position, statusCodes]) =>
    statusCodes.map((status, i) => ({
      id: `event-${position}`,
      attempt: i + 1,
      bytes: EVENTS[position - 1]?.body as string,
      status,
      at: NOON,
    })),
  );
  const lamp = creation('lamp', 'receipt-2', 2);
  const rma = { shopId: SHOP, clientId: TILL, createdAt: NOON, erasedAt: null };
  const repair = { kind: 'offline_repairs' as const, status: 'OFFLINE_REPAIR' };
  const trade = { kind: 'trade_returns' as const, status: 'TRADE_SUBMITTED' };
  const total = { shopId: SHOP, origin: 'API' as const, count: 1 };
  return {
    history: {
      keys: [{ clientId: TILL, key: 'receipt-2' }],
      creations: [creation('kettle', null, 1), lamp, { ...lamp }],
      moves: [move('status_changed', NOON + 3)],
      receipts: [...receipts, structuredClone(receipts[0] as (typeof receipts)[0])],
      feeds: [{ shopId: SHOP, items: EVENTS.map(({ id, body }) => ({ id, ...JSON.parse(body) })) }],
    },
    kept: {
      shops: [{ id: SHOP, allowance: 2, month: '2026-11', used: 2, lastNumber: 2 }],
      receivingClients: [TILL],
      rmas: [
        { ...rma, ...repair, id: 'kettle', number: 1, externalRef: null },
        { ...rma, ...trade, id: 'lamp', number: 2, externalRef: 'receipt-2' },
      ],
      totals: [
        { ...total, ...repair },
        { ...total, ...trade },
      ],
      timeline: EVENTS.map(({ rmaId, at }, i) => ({
        rmaId,
        at,
        type: ['CREATED', 'CREATED', 'STATUS_CHANGED', 'TRACKING_UPLOADED'][i] as string,
      })),
      events: structuredClone(EVENTS),
      deliveries: DELIVERIES.map(([position, statusCodes]) => tried(position, statusCodes)),
    },
  };
};

const nth = <Item>(items: Item[], n: number): Item => items[n] as Item;
const set = <Item extends object>(items: Item[], n: number, values: Partial<Item>): void =>
  void Object.assign(nth(items, n), values);

/** Gives an event another status or timestamp everywhere, so that only what it says is wrong. */
const retell = ({ history, kept }: Run, n: number, data: object, more: object = {}): void => {
  const changed = nth(kept.events, n);
  const body = JSON.parse(changed.body);
  changed.body = JSON.stringify({ ...body, ...more, data: { ...body.data, ...data } });
  for (const receipt of history.receipts) if (receipt.id === changed.id) receipt.bytes = changed.body;
  for (const { items } of history.feeds)
    for (const item of items) if (item.id === changed.id) Object.assign(item, JSON.parse(changed.body));
};

const BAD: Record<RuleName, Record<string, (run: Run) => void>> = {
  'acknowledged creations exist': {
    'a creation is lost': ({ history }) => history.creations.push(creation('toaster', null, 3)),
    'a creation has another number': ({ history }) => set(history.creations, 0, { rmaNumber: '#RMA-000009' }),
  },
  'acknowledged moves exist': {
    'a move is lost': ({ history }) => history.moves.push(move('closed', NOON + 1_800_000)),
  },
  'one key, one RMA, one response': {
    'a key made two RMAs': ({ kept }) => set(kept.rmas, 0, { externalRef: 'receipt-2' }),
    'a retry got another response': ({ history }) =>
      set(history.creations, 2, { response: '{"id":"lamp","status":"TRADE_APPROVED"}' }),
  },
  'numbers are unique': {
    'two RMAs have one number': ({ history, kept }) => {
      for (const creation of history.creations) creation.rmaNumber = '#RMA-000001';
      for (const rma of kept.rmas) rma.number = 1;
    },
    'the counter is behind': ({ kept }) => set(kept.shops, 0, { lastNumber: 1 }),
  },
  'the allowance is exact': {
    'a place is taken for nothing': ({ kept }) => set(kept.shops, 0, { used: 3 }),
    'more than the allowance were created': ({ kept }) => set(kept.shops, 0, { allowance: 1 }),
  },
  'totals are counts': {
    'a total is too high': ({ kept }) => set(kept.totals, 0, { count: 2 }),
    'a total is missing': ({ kept }) => void kept.totals.pop(),
  },
  'events of an RMA follow its life': {
    'two events have one timestamp': (run) => {
      const [before, after] = [nth(run.kept.events, 2), nth(run.kept.events, 3)];
      after.at = before.at;
      nth(run.kept.timeline, 3).at = before.at;
      retell(run, 3, {}, { timestamp: new Date(before.at).toISOString() });
    },
    'an event tells of another status before it': (run) =>
      retell(run, 2, { previousStatus: 'COUNTER_SWAPPED' }),
    'an event leads where no move leads': (run) => retell(run, 2, { status: 'OFFLINE_CLOSED' }),
    'a life begins in the middle': (run) => retell(run, 0, { status: 'OFFLINE_REPAIR' }),
    'the last event and the RMA differ': ({ kept }) => {
      set(kept.rmas, 0, { status: 'OFFLINE_CLOSED' });
      set(kept.totals, 0, { status: 'OFFLINE_CLOSED' });
    },
    'an event tells of an RMA that is not there': (run) => {
      const ghost = event(5, 'ghost', 'offline_repair.created', { status: 'OFFLINE_DIAGNOSTICS' });
      run.kept.events.push(ghost);
      nth(run.history.feeds, 0).items.push({ id: ghost.id, ...JSON.parse(ghost.body) });
    },
  },
  'the timeline tells the same': {
    'an entry is missing': ({ kept }) => void kept.timeline.pop(),
  },
  'positions have no gap': {
    'a position is skipped': ({ kept }) => set(kept.events, 3, { position: 5 }),
  },
  'the feed has no gap and no repeat': {
    'an event is missing': ({ history }) => void nth(history.feeds, 0).items.splice(1, 1),
    'an event comes twice': ({ history }) => {
      const { items } = nth(history.feeds, 0);
      items.splice(2, 0, nth(items, 1));
    },
    'two events change places': ({ history }) => void nth(history.feeds, 0).items.reverse(),
    'an event reads differently': ({ history }) => {
      nth(nth(history.feeds, 0).items, 0).timestamp = '2026-11-16T12:30:00.000Z';
    },
  },
  'each event is delivered, or dropped after four attempts': {
    'a delivery still waits': ({ kept }) => set(kept.deliveries, 3, { status: 'PENDING' }),
    'an event has no delivery': ({ history, kept }) => {
      kept.deliveries.pop();
      history.receipts = history.receipts.filter(({ id }) => id !== 'event-4');
    },
    'it was dropped after three attempts': ({ history, kept }) => {
      kept.deliveries[2] = tried(3, [500, 500, 500]);
      history.receipts = history.receipts.filter(({ attempt }) => attempt < 4);
    },
    'an attempt is not in the log': ({ kept }) => void nth(kept.deliveries, 1).log?.shift(),
    'it went on after a 200': ({ history, kept }) => {
      kept.deliveries[0] = tried(1, [200, 200]);
      history.receipts.push({ ...nth(history.receipts, 0), attempt: 2 });
    },
    'the receiver never saw it': ({ history }) => {
      history.receipts = history.receipts.filter(({ id }) => id !== 'event-4');
    },
    'the receiver refused what counts as delivered': ({ history }) => {
      for (const receipt of history.receipts) if (receipt.id === 'event-4') receipt.status = 500;
    },
    'an attempt was made and not counted': ({ history }) =>
      history.receipts.push({ ...nth(history.receipts, 0), attempt: 2 }),
  },
  'every attempt brings the same bytes': {
    'a duplicate differs': ({ history }) => {
      nth(history.receipts, history.receipts.length - 1).bytes += ' ';
    },
    'an attempt brings what is no event': ({ history }) =>
      history.receipts.push({ ...nth(history.receipts, 0), id: 'event-9' }),
  },
};

describe('the checker of histories', () => {
  it('accepts a correct one', () => {
    const { history, kept } = goodRun();
    expect(check(history, kept)).toEqual([]);
  });

  it('accepts an empty one', () => {
    const empty = { shops: [], receivingClients: [], rmas: [], totals: [], timeline: [], events: [] };
    expect(
      check({ keys: [], creations: [], moves: [], receipts: [], feeds: [] }, { ...empty, deliveries: [] }),
    ).toEqual([]);
  });

  const CASES = RULE_NAMES.flatMap((rule) => Object.keys(BAD[rule]).map((what) => ({ rule, what })));
  it.each(CASES)('finds by "$rule" that $what', ({ rule, what }) => {
    const run = goodRun();
    BAD[rule][what]?.(run);
    const faults = check(run.history, run.kept);
    expect(faults.length).toBeGreaterThan(0);
    expect(new Set(faults.map((fault) => fault.rule))).toEqual(new Set([rule]));
  });
});
