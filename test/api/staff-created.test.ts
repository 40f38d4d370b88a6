import { describe, expect, it } from 'vitest';
import {
  OFFLINE_REPAIR_MOVES,
  type OfflineRepairAction,
  TRADE_RETURN_MOVES,
  type TradeReturnAction,
} from '../../contract/lifecycle.ts';
import { offlineRepairs, tradeReturns } from '../../src/returns/actions.ts';
import {
  askAll,
  call,
  endpoints,
  type Ids,
  KINDS,
  type Kind,
  newRma,
  newStaffRma,
  rowCounts,
  staffOf,
  UNKNOWN_ID,
} from '../support/api.ts';
import { type Answer, type Harness, sharedHarness } from '../support/harness.ts';
import { addReceiver, deliveriesOf } from '../support/outbox.ts';
import { moveThrough } from '../support/trade-moves.ts';

const harness = sharedHarness();

// What people of the shop make is theirs alone: no program sees it, and no program is told.

interface Step {
  name: string;
  take(t: Harness, id: string): Promise<unknown>;
}

const repairStep = (name: OfflineRepairAction, body: object): Step => ({
  name,
  take: (t, id) => offlineRepairs.move(t.ctx, staffOf(t), id, name, body),
});
const REPAIR_STEPS: Step[] = [
  repairStep('tracking', { trackingNumber: 'T', carrierName: 'C' }),
  repairStep('begin-diagnostics', { notes: 'n' }),
  repairStep('begin-repair', { repairNotes: 'n', assignedToId: 'a' }),
  { name: 'note', take: (t, id) => offlineRepairs.note(t.ctx, staffOf(t), id, 'n') },
  repairStep('resolve', { offlineDisposition: 'WRITE_OFF', notes: null }),
  repairStep('close', {}),
];
const tradeSteps = (...actions: (TradeReturnAction | 'note')[]): Step[] =>
  actions.map((action) => ({
    name: action,
    take: (t, id) =>
      action === 'note' ? tradeReturns.note(t.ctx, staffOf(t), id, 'n') : moveThrough(t, id, [action]),
  }));

const TABLE: { what: string; kind: Kind; steps: Step[] }[] = [
  { what: 'a repair, through every action', kind: 'offline-repairs', steps: REPAIR_STEPS },
  {
    what: 'a trade return, to its credit',
    kind: 'trade-returns',
    steps: tradeSteps('note', 'approve', 'receive', 'request-credit', 'note', 'resolve'),
  },
  {
    what: 'a trade return, without one',
    kind: 'trade-returns',
    steps: tradeSteps('approve', 'receive', 'resolve'),
  },
  { what: 'a trade return, turned down', kind: 'trade-returns', steps: tradeSteps('reject', 'note') },
  { what: 'a trade return, turned down late', kind: 'trade-returns', steps: tradeSteps('approve', 'reject') },
];

const seen = ({ status, body }: Answer) => ({ status, body: { ...body, requestId: null } });

/** All that a program can ask the API about an id: every endpoint that takes one, and both lists. */
const askedOf = async (t: Harness, ids: Ids | string) => ({
  ...(await askAll(
    endpoints(t).filter(({ hasId }) => hasId),
    (endpoint) => call(t, endpoint, ids).then(seen),
  )),
  ...(await askAll(
    // What staff make counts toward the allowance, and that is all that shows.
    endpoints(t).filter(({ hasId, method, template }) => !hasId && method === 'GET' && template !== '/usage'),
    (endpoint) => call(t, endpoint, ids, { body: undefined }).then(seen),
  )),
});

describe('what staff made', () => {
  it('is tried here with every move of both kinds', () => {
    const tried = (kind: Kind) =>
      new Set(TABLE.filter((row) => row.kind === kind).flatMap(({ steps }) => steps.map(({ name }) => name)));
    expect([...tried('offline-repairs')].sort()).toEqual(
      [...Object.keys(OFFLINE_REPAIR_MOVES), 'note'].sort(),
    );
    expect([...tried('trade-returns')].sort()).toEqual([...Object.keys(TRADE_RETURN_MOVES), 'note'].sort());
  });

  it.each(TABLE)('is silent and invisible: $what', async ({ kind, steps }) => {
    const t = await harness();
    await addReceiver(t);
    const unknown = await askedOf(t, UNKNOWN_ID);
    for (const each of KINDS)
      expect(unknown[`GET /${each}`]).toMatchObject({ status: 200, body: { items: [], total: 0 } });

    const { id } = await newStaffRma(t, kind);
    const expectUnknown = async (after: string) => {
      const before = await rowCounts(t);
      expect({ after, told: await askedOf(t, id) }).toEqual({ after, told: unknown });
      expect(await rowCounts(t)).toEqual(before);
      expect({ after, deliveries: await deliveriesOf(t) }).toEqual({ after, deliveries: [] });
    };
    await expectUnknown('creation');
    for (const { name, take } of steps) {
      await take(t, id);
      await expectUnknown(name);
    }
    // It was all done, though: the moves are in the timeline.
    expect((await rowCounts(t)).timeline).toBe(steps.length + 1);
  });

  it.each(KINDS)('stays so beside what programs made: %s', async (kind) => {
    const t = await harness();
    const client = await addReceiver(t);
    const marks = { externalRef: 'R', customerName: 'Same' };
    await newStaffRma(t, kind, marks);
    const { id } = await newRma(t, kind, marks, { key: client.apiKey });
    await newStaffRma(t, kind, marks);
    expect((await t.get(`/${kind}?externalRef=R`)).body).toMatchObject({ total: 1, items: [{ id }] });
    expect((await deliveriesOf(t)).map(({ rma_id }) => rma_id)).toEqual([id]);
  });
});
