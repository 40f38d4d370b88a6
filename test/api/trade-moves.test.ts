// engines: sqlite, postgres

import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect } from 'vitest';
import type { TimelineEntry } from '../../contract/common.ts';
import {
  openTradeMoves,
  TRADE_RETURN_MOVES,
  TRADE_RETURN_START,
  TRADE_RETURN_STATUSES,
  type TradeReturnAction,
} from '../../contract/lifecycle.ts';
import type { TradeReturn } from '../../contract/trade-return.ts';
import { WEBHOOK_EVENT_DATA, type WebhookEventName } from '../../contract/webhook-event.ts';
import type { ServiceError } from '../../src/platform/errors.ts';
import { tradeReturns } from '../../src/returns/actions.ts';
import type { Caller } from '../../src/shops/plans.ts';
import { newTradeReturn, staffOf, stopClock, UNKNOWN_ID, UUID7 } from '../support/api.ts';
import { TRADE_ITEM } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { addReceiver, deliveriesOf } from '../support/outbox.ts';
import { expectSound } from '../support/receipts.ts';
import { tradeReturnIn } from '../support/trade-moves.ts';

const it = itWith(sharedHarness());

const ACTIONS = Object.keys(TRADE_RETURN_MOVES) as TradeReturnAction[];

/** The contract's table of moves: from, move, to, what the timeline calls it, what it fires. */
const TABLE = [
  ['TRADE_SUBMITTED', 'approve', 'TRADE_APPROVED', 'STATUS_CHANGED', 'trade_return.status_changed'],
  ['TRADE_SUBMITTED', 'reject', 'TRADE_REJECTED', 'STATUS_CHANGED', 'trade_return.status_changed'],
  ['TRADE_APPROVED', 'reject', 'TRADE_REJECTED', 'STATUS_CHANGED', 'trade_return.status_changed'],
  ['TRADE_APPROVED', 'receive', 'TRADE_RECEIVED', 'STATUS_CHANGED', 'trade_return.status_changed'],
  [
    'TRADE_RECEIVED',
    'request-credit',
    'TRADE_CREDIT_REQUESTED',
    'CREDIT_REQUESTED',
    'trade_return.credit_requested',
  ],
  ['TRADE_RECEIVED', 'resolve', 'TRADE_RESOLVED', 'RESOLVED', 'trade_return.resolved'],
  ['TRADE_CREDIT_REQUESTED', 'resolve', 'TRADE_RESOLVED', 'RESOLVED', 'trade_return.resolved'],
] as const;
const rowOf = (from: string | null, action: string) =>
  TABLE.find(([status, move]) => status === from && move === action);

const timelineOf = async (t: Harness, id: string): Promise<TimelineEntry[]> =>
  (await t.get(`/trade-returns/${id}/timeline`)).body.items;
const readReturn = async (t: Harness, id: string) => (await t.get(`/trade-returns/${id}`)).body;
/** Everything a move could have written. */
const stateOf = async (t: Harness) => ({
  returns: await t.ctx.db.selectFrom('trade_returns').selectAll().orderBy('id').execute(),
  entries: await t.ctx.db.selectFrom('timeline').selectAll().orderBy('id').execute(),
  deliveries: await deliveriesOf(t),
});
const refusalOf = (outcome: Promise<unknown>): Promise<ServiceError> =>
  outcome.then(
    () => expect.unreachable('the move was made'),
    (error) => error,
  );
/** The moves that a refusal names beside the one it refuses. */
const namedIn = ({ message }: ServiceError, refused: TradeReturnAction): string[] => {
  const words = message.match(/[a-z]+(?:-[a-z]+)*/g) ?? [];
  const named = words.filter((word) => (ACTIONS as string[]).includes(word));
  expect(named).toContain(refused);
  named.splice(named.indexOf(refused), 1);
  return named;
};

/** What a return that is received whole has then. */
const IN_FULL = ({ items, declaredAmount }: TradeReturn) => ({
  items: items.map((item) => ({ ...item, received: item.quantity, accepted: item.quantity })),
  creditAmount: declaredAmount,
});

/** What staff see beyond what programs do. */
const FOR_STAFF = { assignee: null, dueAt: null };

describe('the table of moves', () => {
  it('is that of the contract', () => {
    const told = Object.entries(TRADE_RETURN_MOVES).flatMap(([action, { from, to, entry, event }]) =>
      from.map((status) => [status, action, to, entry, event]),
    );
    expect(told.sort()).toEqual(TABLE.map((row) => [...row]).sort());
    expect(TRADE_RETURN_START).toBe('TRADE_SUBMITTED');
  });

  it.for(TRADE_RETURN_STATUSES)('applies to every move from %s', async (from, { t }) => {
    const client = await addReceiver(t);
    const open = TABLE.filter(([status]) => status === from).map(([, action]) => action);
    expect([...openTradeMoves(from)].sort()).toEqual([...open].sort());
    for (const action of ACTIONS) {
      const { id } = await tradeReturnIn(t, from, { key: client.apiKey });
      const before = await readReturn(t, id);
      expect(before.status).toBe(from);
      const row = rowOf(from, action);
      const state = await stateOf(t);
      const attempt = tradeReturns.move(t.ctx, staffOf(t), id, action, { note: `to ${action}` });
      if (!row) {
        const refusal = await refusalOf(attempt);
        expect(refusal).toMatchObject({ code: 'MOVE_NOT_ALLOWED' });
        expect(namedIn(refusal, action).sort()).toEqual([...open].sort());
        expect(await stateOf(t)).toEqual(state);
        continue;
      }
      const [, , to, type, event] = row;
      const after = await attempt;
      expect(after).toEqual({
        ...before,
        ...FOR_STAFF,
        ...(action === 'receive' ? IN_FULL(before) : {}),
        status: to,
        statusSince: after.updatedAt,
        updatedAt: after.updatedAt,
      });
      expect(Date.parse(after.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
      expect({ ...(await readReturn(t, id)), ...FOR_STAFF }).toEqual(after);
      expect((await timelineOf(t, id)).at(-1)).toEqual({
        id: expect.stringMatching(UUID7),
        type,
        at: after.updatedAt,
        actor: { type: 'USER', id: UNKNOWN_ID, name: 'Grace' },
        fromStatus: from,
        toStatus: to,
        note: `to ${action}`,
        data: expect.any(Object),
      });
      const { entries, deliveries } = await stateOf(t);
      expect(entries).toHaveLength(state.entries.length + 1);
      const earlier = new Set(state.deliveries.map((delivery) => delivery.id));
      const fired = deliveries.filter((delivery) => !earlier.has(delivery.id));
      expect(fired.map((delivery) => [delivery.rma_id, delivery.event])).toEqual([[id, event]]);
      const { creditAmount, items, ...data } = JSON.parse(fired[0]?.body ?? '').data;
      const common = { id, rmaNumber: before.rmaNumber, externalRef: null, externalSource: null };
      expect(data).toEqual({ ...common, status: to, previousStatus: from });
      expect(creditAmount).toBe(['receive', 'request-credit', 'resolve'].includes(action) ? 482 : undefined);
      expect(items?.length).toBe(action === 'receive' ? 1 : undefined);
    }
  });
});

const isMove = ({ type }: TimelineEntry) => TABLE.some(([, , , move]) => move === type);

/** Holds a timeline against the table: every entry a move that was open then, or one that keeps the status, and each later than the last. */
const expectValidPath = (items: TimelineEntry[]): void => {
  const [created, ...rest] = items;
  expect(created).toMatchObject({ type: 'CREATED', fromStatus: null, toStatus: TRADE_RETURN_START });
  let last = created as TimelineEntry;
  for (const entry of rest) {
    expect(entry.fromStatus).toBe(last.toStatus);
    expect(Date.parse(entry.at)).toBeGreaterThan(Date.parse(last.at));
    if (isMove(entry))
      expect(TABLE.map(([from, , to, type]) => [from, to, type] as string[])).toContainEqual([
        entry.fromStatus,
        entry.toStatus,
        entry.type,
      ]);
    else expect([entry.type, entry.toStatus]).toEqual([entry.type, entry.fromStatus]);
    last = entry;
  }
};

const QUANTITIES = [4, 2.5, 1];
const line = fc
  .record({
    line: fc.integer({ min: 1, max: QUANTITIES.length }),
    received: fc.constantFrom(0, 0.5, 1, 2.5, 4),
    accepted: fc.constantFrom(null, 0, 0.5, 1),
  })
  .map(({ accepted, ...rest }) => ({
    ...rest,
    note: null,
    accepted: accepted && Math.min(accepted, rest.received),
  }));
const receipt = fc.record({
  note: fc.constant(null),
  lines: fc.uniqueArray(line, { minLength: 1, maxLength: 3, selector: (each) => each.line }),
  complete: fc.constantFrom(null, true, false),
});
interface Wish {
  action: TradeReturnAction | 'note' | 'correct' | 'assign';
  body: object;
}
const anyWish: fc.Arbitrary<Wish> = fc.oneof(
  { weight: 3, arbitrary: receipt.map((body) => ({ action: 'receive' as const, body })) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(...ACTIONS, 'note' as const, 'correct' as const, 'assign' as const)
      .map((action) => ({ action, body: { note: 'n' } })),
  },
  fc
    .constantFrom(0, 3.5, 100, 1000)
    .map((creditAmount) => ({ action: 'request-credit' as const, body: { note: 'n', creditAmount } })),
);

const take = (t: Harness, caller: Caller, id: string, { action, body }: Wish, i: number) => {
  if (action === 'assign') return tradeReturns.assign(t.ctx, caller, id, null);
  if (action === 'note') return tradeReturns.change(t.ctx, caller, { type: 'note', id, note: `note ${i}` });
  if (action !== 'correct') return tradeReturns.move(t.ctx, caller, id, action, body);
  const fields = { customerName: `N ${i}` };
  return tradeReturns.change(t.ctx, caller, { type: 'correct', id, fields, seen: undefined });
};

const figuresOf = ({ items }: Pick<TradeReturn, 'items'>) =>
  items.map(({ line, received, accepted }) => ({ line, received, accepted }));

it('many simultaneous callers leave a path through the table, consistent quantities, and events that match them', async ({
  t,
}) => {
  const client = await addReceiver(t);
  const program: Caller = { shop: t.shop, actor: { type: 'API_CLIENT', id: client.id, name: 'Warehouse' } };
  const callers = [staffOf(t, { name: 'Ana' }), staffOf(t, { name: 'Ben' }), program];
  stopClock();
  await fc.assert(
    fc.asyncProperty(fc.array(anyWish, { minLength: 50, maxLength: 50 }), async (wishes) => {
      const items = QUANTITIES.map((quantity, i) => ({
        ...TRADE_ITEM,
        quantity,
        price: [120.5, 0.1, 0.0003][i],
      }));
      const created: TradeReturn = await newTradeReturn(t, { items }, { key: client.apiKey });
      const { id } = created;
      await tradeReturns.move(t.ctx, program, id, 'approve', { note: null });
      const approved = await readReturn(t, id);
      const outcomes = await Promise.allSettled(
        wishes.map((wish, i) => take(t, callers[i % callers.length] as Caller, id, wish, i)),
      );
      const told = [created, approved];
      for (const [i, outcome] of outcomes.entries())
        if (outcome.status === 'fulfilled') told.push(JSON.parse(JSON.stringify(outcome.value)));
        else {
          expect(ACTIONS).toContain(wishes[i]?.action);
          expect(['MOVE_NOT_ALLOWED', 'VALIDATION_FAILED']).toContain(outcome.reason.code);
        }
      for (const record of told) expectSound(record);

      const entries = await timelineOf(t, id);
      expectValidPath(entries);
      // Each response has an entry with its status and its time, and each entry a response.
      const inTimeline = entries.map(({ at, toStatus }) => `${at} ${toStatus}`);
      expect([...new Set(told.map(({ updatedAt, status }) => `${updatedAt} ${status}`))].sort()).toEqual(
        inTimeline,
      );
      expect(await readReturn(t, id)).toMatchObject({
        status: entries.at(-1)?.toStatus,
        updatedAt: entries.at(-1)?.at,
      });

      const { rows } = await sql<{ event: WebhookEventName; body: string }>`select event, body from events
        where rma_id = ${id} order by position`.execute(t.ctx.db);
      expect(rows.map(({ body }) => JSON.parse(body).timestamp)).toEqual(
        entries.filter(({ type }) => type !== 'NOTE_ADDED').map(({ at }) => at),
      );
      for (const { event, body } of rows) {
        const { timestamp, data } = JSON.parse(body);
        expect(WEBHOOK_EVENT_DATA[event].parse(data)).toEqual(data);
        const then = told.find(({ updatedAt }) => updatedAt === timestamp) as TradeReturn;
        expect(data.status).toBe(then.status);
        if ('creditAmount' in data) expect(data.creditAmount).toBe(then.creditAmount);
        if ('items' in data) expect(figuresOf(data)).toEqual(figuresOf(then));
      }
    }),
    { numRuns: 12 },
  );
});
