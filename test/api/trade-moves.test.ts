// engines: sqlite, postgres

import fc from 'fast-check';
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
import type { ServiceError } from '../../src/platform/errors.ts';
import { tradeReturns } from '../../src/returns/actions.ts';
import { newTradeReturn, staffOf, stopClock, UNKNOWN_ID, UUID7 } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { addReceiver, deliveriesOf } from '../support/outbox.ts';
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

/** Holds a timeline against the table: every entry a move that was open then, or a note, and each later than the last. */
const expectValidPath = (items: TimelineEntry[]): void => {
  const [created, ...rest] = items;
  expect(created).toMatchObject({ type: 'CREATED', fromStatus: null, toStatus: TRADE_RETURN_START });
  let last = created as TimelineEntry;
  for (const entry of rest) {
    expect(entry.fromStatus).toBe(last.toStatus);
    expect(Date.parse(entry.at)).toBeGreaterThan(Date.parse(last.at));
    if (entry.type === 'NOTE_ADDED') expect(entry.toStatus).toBe(entry.fromStatus);
    else
      expect(TABLE.map(([from, , to, type]) => [from, to, type] as string[])).toContainEqual([
        entry.fromStatus,
        entry.toStatus,
        entry.type,
      ]);
    last = entry;
  }
};

it('many simultaneous users leave a timeline that is a path through the table', async ({ t }) => {
  const client = await addReceiver(t);
  stopClock();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...ACTIONS, 'note' as const), { minLength: 50, maxLength: 50 }),
      async (wishes) => {
        const { id } = await newTradeReturn(t, {}, { key: client.apiKey });
        const outcomes = await Promise.allSettled(
          wishes.map((wish, index) => {
            const caller = staffOf(t, { name: `Person ${index}` });
            return wish === 'note'
              ? tradeReturns.change(t.ctx, caller, { type: 'note', id, note: `note ${index}` })
              : tradeReturns.move(t.ctx, caller, id, wish, { note: `wish ${index}` });
          }),
        );
        const items = await timelineOf(t, id);
        expectValidPath(items);
        const made = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
        for (const [index, outcome] of outcomes.entries())
          if (outcome.status === 'rejected') {
            expect(wishes[index]).not.toBe('note');
            expect(outcome.reason).toMatchObject({ code: 'MOVE_NOT_ALLOWED' });
          }
        // Each successful call has an entry with the status and the time of its answer, and no other has.
        expect(items.slice(1).map(({ at, toStatus }) => [at, toStatus])).toEqual(
          made.map(({ updatedAt, status }) => [updatedAt, status]).sort(),
        );
        expect(await readReturn(t, id)).toMatchObject({
          status: items.at(-1)?.toStatus,
          updatedAt: items.at(-1)?.at,
        });
        const moves = items.filter(({ type }) => type !== 'NOTE_ADDED');
        const told = (await deliveriesOf(t))
          .filter(({ rma_id }) => rma_id === id)
          .map(({ body }) => JSON.parse(body))
          .sort((one, other) => one.timestamp.localeCompare(other.timestamp));
        expect(told.map(({ timestamp, data }) => [timestamp, data.status])).toEqual(
          moves.map(({ at, toStatus }) => [at, toStatus]),
        );
      },
    ),
    { numRuns: 8 },
  );
});
