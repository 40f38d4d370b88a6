import { describe, expect } from 'vitest';
import { RIGHTS } from '../../contract/common.ts';
import { OFFLINE_REPAIR_MOVES, TRADE_RETURN_MOVES } from '../../contract/lifecycle.ts';
import { changeClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import {
  allEndpoints,
  askAll,
  BODIES,
  call,
  endpoints,
  type Ids,
  type Kind,
  makeIds,
  newRma,
  newStaffRma,
  rowCounts,
  UNKNOWN_ID,
} from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type ApiResponse, type Harness, sharedHarness } from '../support/harness.ts';
import { KINDS } from '../support/kinds.ts';
import { addReceiver, deliveriesOf } from '../support/outbox.ts';
import { pluck } from '../support/responses.ts';

const it = itWith(sharedHarness());

// That an id of another shop, of another kind and an unknown one look the same everywhere is in test/faults/rows/11-foreign-ids.test.ts.

it('an id that cannot be decoded is refused for the missing key', async ({ t }) => {
  for (const { path } of KINDS) expect(await t.get(`${path}/%ZZ`, { key: null })).toFailWith(401);
});

describe('lists', () => {
  it.for(KINDS)(
    'at $path show what all API clients of the shop created, and nothing else',
    async ({ kind, marks, start }, { t, erp }) => {
      const other = await t.addShop();
      await newRma(t, kind, marks, { key: other.client.apiKey });
      await newStaffRma(t, kind, marks);
      const filters = { ...marks, status: start, updatedSince: '2000-01-01T00:00:00Z', limit: '100' };
      const read = async (query: Record<string, string>) =>
        (await t.get(`/${kind}?${new URLSearchParams(query)}`)).body;
      const found = async () => {
        const queries = [filters, ...Object.entries(filters).map(([name, value]) => ({ [name]: value }))];
        const lists = await Promise.all(queries.map(read));
        return lists.map(({ items, total, totalPages }) => [total, totalPages, ...pluck(items, 'id')].join());
      };
      expect(new Set(await found())).toEqual(new Set(['0,0']));
      const { id } = await newRma(t, kind, marks, { key: erp.apiKey });
      expect(new Set(await found())).toEqual(new Set([`1,1,${id}`]));
    },
  );

  it('of one kind contain nothing of the other', async ({ t }) => {
    const ids = await makeIds(t);
    for (const { kind, path } of KINDS)
      expect((await t.get(path)).body).toMatchObject({ total: 1, items: [{ id: ids[kind] }] });
  });
});

// What people of the shop create is theirs alone: programs neither see it nor get its events.

/** What a program cannot do, or not with this body. */
const BY_STAFF: Record<string, [move: string, body: object]> = {
  note: ['notes', { note: 'n' }],
  correct: ['correct', { customerName: 'Nora W.' }],
  count: ['receive', { lines: [{ line: 1, received: 1 }] }],
};
const REPAIR_MOVES = ['tracking', 'begin-diagnostics', 'begin-repair', 'note', 'correct', 'resolve', 'close'];
const TO_ITS_CREDIT = ['note', 'approve', 'count', 'receive', 'request-credit', 'correct', 'resolve'];
const TABLE: [what: string, kind: Kind, steps: string[]][] = [
  ['a repair, through every action', 'offline-repairs', REPAIR_MOVES],
  ['a trade return, to its credit', 'trade-returns', TO_ITS_CREDIT],
  ['a trade return, without credit', 'trade-returns', ['approve', 'receive', 'resolve']],
  ['a trade return, rejected', 'trade-returns', ['reject', 'note']],
  ['a trade return, rejected late', 'trade-returns', ['approve', 'reject']],
];
for (const [kind, moves] of [
  ['offline-repairs', OFFLINE_REPAIR_MOVES],
  ['trade-returns', TRADE_RETURN_MOVES],
] as const)
  for (const move of Object.keys(moves))
    if (!TABLE.some(([, of, steps]) => of === kind && steps.includes(move)))
      throw new Error(`no case has ${move} of ${kind}`);

const seen = ({ status, body }: ApiResponse) => ({ status, body: { ...body, requestId: null } });

/** All that a program can ask the API about an id: every endpoint that takes one, and both lists. */
const askedOf = async (t: Harness, ids: Ids | string) => ({
  ...(await askAll(
    allEndpoints(t).filter(({ hasId }) => hasId),
    (endpoint) => call(t, endpoint, ids).then(seen),
  )),
  ...(await askAll(
    // What staff create counts toward the allowance, and that is all that shows.
    endpoints(t).filter(({ hasId, method, template }) => !hasId && method === 'GET' && template !== '/usage'),
    (endpoint) => call(t, endpoint, ids, { body: undefined }).then(seen),
  )),
});

describe('what staff or another shop created', () => {
  it.for(TABLE)('is silent and invisible: %s', async ([, kind, steps], { t, staff }) => {
    await addReceiver(t);
    await changeClient(t.ctx, OPERATOR, t.client.id, { rights: [...RIGHTS] });
    const unknown = await askedOf(t, UNKNOWN_ID);
    for (const { path } of KINDS)
      expect(unknown[`GET ${path}`]).toMatchObject({ status: 200, body: { items: [], total: 0 } });

    const { client } = await t.addShop();
    const foreign = await newRma(t, kind, {}, { key: client.apiKey });
    expect(await askedOf(t, foreign.id)).toEqual(unknown);
    const { timeline } = await rowCounts(t);

    const { id } = await newStaffRma(t, kind);
    const expectUnknown = async (after: string) => {
      const before = await rowCounts(t);
      expect({ after, told: await askedOf(t, id) }).toEqual({ after, told: unknown });
      expect(await rowCounts(t)).toEqual(before);
      expect({ after, deliveries: await deliveriesOf(t) }).toEqual({ after, deliveries: [] });
    };
    await expectUnknown('creation');
    for (const step of steps) {
      const [move, body] = BY_STAFF[step] ?? [step, BODIES[`/${kind}/{id}/${step}`]?.good];
      expect(await staff.post(`/${kind}/${id}/${move}`, body)).toHaveStatus(200);
      await expectUnknown(step);
    }
    // It was all done, though: the moves are in the timeline.
    expect((await rowCounts(t)).timeline).toBe(timeline + steps.length + 1);
  });
});
