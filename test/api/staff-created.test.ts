import { describe, expect } from 'vitest';
import {
  OFFLINE_REPAIR_MOVES,
  type OfflineRepairAction,
  TRADE_RETURN_MOVES,
  type TradeReturnAction,
} from '../../contract/lifecycle.ts';
import { offlineRepairs, tradeReturns } from '../../src/returns/actions.ts';
import { pluck } from '../support/answers.ts';
import {
  askAll,
  call,
  endpoints,
  type Ids,
  KINDS,
  type Kind,
  newStaffRma,
  rowCounts,
  staffOf,
  UNKNOWN_ID,
} from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Answer, type Harness, sharedHarness } from '../support/harness.ts';
import { addReceiver, deliveriesOf } from '../support/outbox.ts';
import { moveThrough } from '../support/trade-moves.ts';

const it = itWith(sharedHarness());

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

const kind = 'trade-returns';
const TO_ITS_CREDIT = tradeSteps('note', 'approve', 'receive', 'request-credit', 'note', 'resolve');
const TABLE: { what: string; kind: Kind; steps: Step[] }[] = [
  { what: 'a repair, through every action', kind: 'offline-repairs', steps: REPAIR_STEPS },
  { what: 'a trade return, to its credit', kind, steps: TO_ITS_CREDIT },
  { what: 'a trade return, without one', kind, steps: tradeSteps('approve', 'receive', 'resolve') },
  { what: 'a trade return, turned down', kind, steps: tradeSteps('reject', 'note') },
  { what: 'a trade return, turned down late', kind, steps: tradeSteps('approve', 'reject') },
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
    for (const [kind, moves] of [
      ['offline-repairs', OFFLINE_REPAIR_MOVES],
      ['trade-returns', TRADE_RETURN_MOVES],
    ] as const) {
      const tried = TABLE.filter((row) => row.kind === kind).flatMap(({ steps }) => pluck(steps, 'name'));
      expect(new Set(tried)).toEqual(new Set([...Object.keys(moves), 'note']));
    }
  });

  it.for(TABLE)('is silent and invisible: $what', async ({ kind, steps }, { t }) => {
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
});
