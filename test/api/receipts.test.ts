// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import type { TradeReturn } from '../../contract/trade-return.ts';
import { WEBHOOK_EVENT_DATA, type WebhookEventName } from '../../contract/webhook-event.ts';
import type { AdminCaller } from '../support/admin.ts';
import { newRepair, newTradeReturn, rulesOf } from '../support/api.ts';
import { tradeBody } from '../support/bodies.ts';
import { ONLY_SQLITE } from '../support/engines.ts';
import { itWith } from '../support/fixtures.ts';
import { type ApiResponse, type Harness, sharedHarness } from '../support/harness.ts';
import type { Figures } from '../support/receipts.ts';

const it = itWith(sharedHarness());

const LAMP = { sku: 'LAMP-OAK', productName: 'Oak table lamp', quantity: 4, price: 120.5 };
const CABLE = {
  sku: 'CABLE',
  productName: 'Cable, by the metre',
  quantity: 2.5,
  price: 0.1,
  tradeLineItemId: 'L-9',
};
const DECLARED = 482.25;

/** The path of a return of lamps and cable that is approved. */
const approved = async (t: Harness, staff: AdminCaller, items: object[] = [LAMP, CABLE]): Promise<string> => {
  const { id } = await newTradeReturn(t, { items });
  const path = `/trade-returns/${id}`;
  expect(await staff.post(`${path}/approve`)).toHaveStatus(200);
  return path;
};
const idIn = (path: string): string => path.split('/')[2] ?? '';

const figuresIn = ({ body }: ApiResponse): Figures[] =>
  body.items.map(({ received, accepted }: TradeReturn['items'][number]) => [received, accepted]);

const eventsOf = async (t: Harness, path: string) => {
  const events = await t.ctx.db
    .selectFrom('events')
    .select(['event', 'body'])
    .where('rma_id', '=', idIn(path))
    .orderBy('position')
    .execute();
  return events.map(({ event, body }) => ({ event, ...JSON.parse(body) }));
};
const entriesOf = async (t: Harness, path: string) => (await t.get(`${path}/timeline`)).body.items;

/** All that a call could have changed. */
const traceOf = async (t: Harness, path: string) => ({
  record: (await t.get(path)).body,
  entries: await entriesOf(t, path),
  events: await eventsOf(t, path),
});

describe('receive with lines', () => {
  it('counts received units, keeps the status, and sends one event', async ({ t, staff }) => {
    const path = await approved(t, staff);
    const before = await traceOf(t, path);
    const call = { note: 'First parcel', lines: [{ line: 1, received: 3, accepted: 2, note: 'One broken' }] };
    const counted = await staff.post(`${path}/receive`, call);
    expect(counted).toHaveStatus(200);
    expect(figuresIn(counted)).toEqual([
      [3, 2],
      [0, 0],
    ]);
    const { updatedAt } = counted.body;
    const record = { ...before.record, items: counted.body.items, updatedAt };
    expect(updatedAt > before.record.updatedAt).toBe(true);
    const after = await traceOf(t, path);
    // Not received yet, so no credit; and the status is as old as it was.
    expect(after.record).toEqual(record);
    expect(after.entries.at(-1)).toMatchObject({
      type: 'ITEMS_RECEIVED',
      at: updatedAt,
      fromStatus: 'TRADE_APPROVED',
      toStatus: 'TRADE_APPROVED',
      note: 'First parcel',
      data: { lines: [{ line: 1, received: 3, accepted: 2, note: 'One broken' }] },
    });
    const told = {
      id: record.id,
      rmaNumber: record.rmaNumber,
      externalRef: null,
      externalSource: null,
      status: 'TRADE_APPROVED',
      items: [
        { line: 1, sku: 'LAMP-OAK', tradeLineItemId: null, quantity: 4, received: 3, accepted: 2 },
        { line: 2, sku: 'CABLE', tradeLineItemId: 'L-9', quantity: 2.5, received: 0, accepted: 0 },
      ],
      creditAmount: null,
    };
    expect(after.events.at(-1)).toEqual({
      event: 'trade_return.items_received',
      timestamp: updatedAt,
      data: told,
    });

    // Totals, not differences: the same again changes nothing, whatever its sender had seen.
    for (const query of ['', `?seen=${before.record.updatedAt}`]) {
      const again = await staff.post(`${path}/receive${query}`, call);
      expect(again).toHaveStatus(200);
      expect(again.body).toEqual(counted.body);
    }
    expect(await traceOf(t, path)).toEqual(after);
  });

  it('accepts what was received unless told otherwise, and leaves other lines unchanged', async ({
    t,
    staff,
  }) => {
    const path = await approved(t, staff);
    const receive = (lines: object[]) => staff.post(`${path}/receive`, { lines });
    expect(figuresIn(await receive([{ line: 2, received: 1.0005 }]))[1]).toEqual([1.0005, 1.0005]);
    expect(figuresIn(await receive([{ line: 1, received: 1, accepted: null }]))).toEqual([
      [1, 1],
      [1.0005, 1.0005],
    ]);
    const noted = [
      { line: 1, received: 1, note: 'Seal broken' },
      { line: 2, received: 2 },
    ];
    await receive(noted);
    expect((await entriesOf(t, path)).at(-1).data.lines).toEqual([
      { line: 1, received: 1, accepted: 1, note: 'Seal broken' },
      { line: 2, received: 2, accepted: 2 },
    ]);
    // A total may also be corrected downwards.
    expect(figuresIn(await receive([{ line: 2, received: 0.5, accepted: 0 }]))).toEqual([
      [1, 1],
      [0.5, 0],
    ]);
  });

  it.for<[what: string, body: object, errors: Record<string, string>]>([
    [
      'more than was declared',
      {
        lines: [
          { line: 1, received: 1 },
          { line: 2, received: 2.5001 },
        ],
      },
      { 'lines.1.received': 'max' },
    ],
    [
      'more accepted than received',
      { lines: [{ line: 1, received: 2, accepted: 3 }] },
      { 'lines.0.accepted': 'max' },
    ],
    ['an unknown line', { lines: [{ line: 3, received: 0 }] }, { 'lines.0.line': 'max' }],
    ['a line below 1', { lines: [{ line: 0, received: 0 }] }, { 'lines.0.line': 'min' }],
    [
      'a line twice',
      {
        lines: [
          { line: 1, received: 1 },
          { line: 1, received: 2 },
        ],
      },
      { 'lines.1.line': 'unique' },
    ],
    ['a negative quantity', { lines: [{ line: 1, received: -1 }] }, { 'lines.0.received': 'min' }],
    ['five decimals', { lines: [{ line: 2, received: 0.00001 }] }, { 'lines.0.received': 'decimals' }],
    ['no quantity', { lines: [{ line: 1 }] }, { 'lines.0.received': 'required' }],
    ['no lines', { lines: [] }, { lines: 'minItems' }],
    ['complete without lines', { complete: true }, { lines: 'required' }],
    ['not complete without lines', { complete: false, lines: null }, { lines: 'required' }],
  ])('refuses %s, and changes nothing', ONLY_SQLITE, async ([, body, errors], { t, staff }) => {
    const path = await approved(t, staff);
    const before = await traceOf(t, path);
    expect(rulesOf(await staff.post(`${path}/receive`, body))).toEqual(errors);
    expect(await traceOf(t, path)).toEqual(before);
  });

  it('names the line and its quantity if too many were received', async ({ t, staff }) => {
    const path = await approved(t, staff);
    const { body } = await staff.post(`${path}/receive`, { lines: [{ line: 2, received: 3 }] });
    expect(body.message).toEqual(['lines.0.received must be at most 2.5, the quantity of line 2']);
  });

  it.for<[what: string, body: object, status: string, creditAmount: number | null]>([
    ['a line is incomplete', { lines: [{ line: 1, received: 4 }] }, 'TRADE_APPROVED', null],
    [
      'every line is complete',
      {
        lines: [
          { line: 1, received: 4, accepted: 0 },
          { line: 2, received: 2.5 },
        ],
      },
      'TRADE_RECEIVED',
      0.25,
    ],
    ['complete is true', { lines: [{ line: 1, received: 3 }], complete: true }, 'TRADE_RECEIVED', 361.5],
    [
      'complete is false',
      {
        lines: [
          { line: 1, received: 4 },
          { line: 2, received: 2.5 },
        ],
        complete: false,
      },
      'TRADE_APPROVED',
      null,
    ],
  ])('completes the return, or not, if %s', async ([, body, status, creditAmount], { t, staff }) => {
    const path = await approved(t, staff);
    const response = await staff.post(`${path}/receive`, body);
    expect(response.body).toMatchObject({ status, creditAmount });
    const { entries, events } = await traceOf(t, path);
    const [type, event] =
      status === 'TRADE_RECEIVED'
        ? ['STATUS_CHANGED', 'trade_return.status_changed']
        : ['ITEMS_RECEIVED', 'trade_return.items_received'];
    expect(entries.at(-1)).toMatchObject({ type, toStatus: status });
    expect(events.at(-1)).toMatchObject({ event, data: { status, creditAmount } });
    const previous = { previousStatus: 'TRADE_APPROVED' };
    expect(events.at(-1).data).toMatchObject(status === 'TRADE_RECEIVED' ? previous : {});
    expect(
      events
        .at(-1)
        .data.items.map(({ received, accepted }: TradeReturn['items'][number]) => [received, accepted]),
    ).toEqual(figuresIn(response));
  });

  it('moves on with complete even if no quantity changes, and a repetition does nothing', async ({
    t,
    staff,
  }) => {
    const path = await approved(t, staff);
    const lines = [{ line: 1, received: 3 }];
    await staff.post(`${path}/receive`, { lines });
    const moved = await staff.post(`${path}/receive`, { lines, complete: true });
    expect(moved.body).toMatchObject({ status: 'TRADE_RECEIVED', creditAmount: 361.5 });
    const after = await traceOf(t, path);
    expect(after.entries.at(-1)).toMatchObject({ type: 'STATUS_CHANGED', data: { lines: [] } });
    const again = await staff.post(`${path}/receive`, { lines, complete: true });
    expect(again).toHaveStatus(200);
    expect(again.body).toEqual(moved.body);
    expect(await traceOf(t, path)).toEqual(after);
  });

  it('corrects the quantities of a received return until the credit is requested', async ({ t, staff }) => {
    const path = await approved(t, staff);
    await staff.post(`${path}/receive`);
    const receive = (lines: object[]) => staff.post(`${path}/receive`, { lines });
    const { statusSince } = (await t.get(path)).body;
    const corrected = await receive([{ line: 1, received: 4, accepted: 1 }]);
    // Fewer than before, and the return stays received.
    expect(corrected.body).toMatchObject({ status: 'TRADE_RECEIVED', statusSince, creditAmount: 120.75 });
    const { entries, events } = await traceOf(t, path);
    expect(entries.at(-1)).toMatchObject({
      type: 'ITEMS_RECEIVED',
      fromStatus: 'TRADE_RECEIVED',
      toStatus: 'TRADE_RECEIVED',
      data: { lines: [{ line: 1, received: 4, accepted: 1 }] },
    });
    expect(events.at(-1)).toMatchObject({
      event: 'trade_return.items_received',
      data: { status: 'TRADE_RECEIVED', creditAmount: 120.75 },
    });
    expect((await receive([{ line: 1, received: 2 }])).body.creditAmount).toBe(241.25);

    await staff.post(`${path}/request-credit`);
    const refused = await receive([{ line: 1, received: 2 }]);
    expect(refused).toFailWith(409, 'MOVE_NOT_ALLOWED');
    expect(refused.body.message).toBe(
      'The return is TRADE_CREDIT_REQUESTED, so receive is not open; open now: resolve.',
    );
  });

  it('is refused for the status before its lines are looked at', async ({ t, staff }) => {
    const path = `/trade-returns/${(await newTradeReturn(t, { items: [LAMP] })).id}`;
    const before = await traceOf(t, path);
    const refused = await staff.post(`${path}/receive`, { lines: [{ line: 9, received: 9 }] });
    expect(refused).toFailWith(409, 'MOVE_NOT_ALLOWED');
    expect(await traceOf(t, path)).toEqual(before);
  });

  it('refuses callers who have not seen the latest counts', async ({ t, staff, admin }) => {
    const path = await approved(t, staff);
    const seen = (await staff.get(path)).body.updatedAt;
    const scan = (by: AdminCaller, received: number, since: string) =>
      by.post(`${path}/receive?seen=${since}`, { lines: [{ line: 1, received }] });
    const first = await scan(staff, 1, seen);
    expect(first).toHaveStatus(200);
    expect(await scan(admin, 2, seen)).toFailWith(409, 'EDIT_CONFLICT');
    expect(await admin.post(`${path}/reject?seen=${seen}`)).toFailWith(409, 'EDIT_CONFLICT');
    expect(await scan(admin, 2, first.body.updatedAt)).toHaveStatus(200);
    expect(figuresIn(await t.get(path))[0]).toEqual([2, 2]);
  });
});

describe('receive without lines', () => {
  it('receives lines without quantities in full, and moves on', async ({ t, staff }) => {
    const path = await approved(t, staff, [LAMP, CABLE, LAMP]);
    await staff.post(`${path}/receive`, {
      lines: [
        { line: 1, received: 3, accepted: 2 },
        // Counted, and nothing was there.
        { line: 3, received: 0 },
      ],
    });
    const received = await staff.post(`${path}/receive`, { note: 'The rest' });
    expect(received.body).toMatchObject({ status: 'TRADE_RECEIVED', creditAmount: 241.25 });
    expect(figuresIn(received)).toEqual([
      [3, 2],
      [2.5, 2.5],
      [0, 0],
    ]);
    expect((await entriesOf(t, path)).at(-1)).toMatchObject({
      type: 'STATUS_CHANGED',
      note: 'The rest',
      data: { lines: [{ line: 2, received: 2.5, accepted: 2.5 }] },
    });
  });
});

describe('the credit', () => {
  const received = async (t: Harness, staff: AdminCaller) => {
    const path = await approved(t, staff);
    await staff.post(`${path}/receive`, { lines: [{ line: 1, received: 3, accepted: 2 }], complete: true });
    return path;
  };

  it('is the value of accepted units in the request, in the record and at the end', async ({ t, staff }) => {
    const path = await received(t, staff);
    const requested = await staff.post(`${path}/request-credit`, { note: 'Checked' });
    expect(requested.body).toMatchObject({ creditAmount: 241, declaredAmount: DECLARED });
    expect((await staff.post(`${path}/resolve`)).body.creditAmount).toBe(241);
    const { events, entries } = await traceOf(t, path);
    expect(events.slice(-2)).toMatchObject([
      { event: 'trade_return.credit_requested', data: { creditAmount: 241 } },
      { event: 'trade_return.resolved', data: { creditAmount: 241 } },
    ]);
    expect(entries.at(-2).data).toEqual({ creditAmount: 241 });
    for (const { event, data } of events)
      expect(WEBHOOK_EVENT_DATA[event as WebhookEventName].parse(data)).toEqual(data);
  });

  it('may be another amount with a note, and the timeline shows both', async ({ t, staff }) => {
    const path = await received(t, staff);
    const ask = (body: object) => staff.post(`${path}/request-credit`, body);
    const before = await traceOf(t, path);
    expect(rulesOf(await ask({ creditAmount: 200 }))).toEqual({ note: 'required' });
    expect(rulesOf(await ask({ creditAmount: 482.2501 }))).toEqual({ creditAmount: 'max', note: 'required' });
    expect(rulesOf(await ask({ creditAmount: -1, note: 'x' }))).toEqual({ creditAmount: 'min' });
    expect(rulesOf(await ask({ creditAmount: 0.000000001, note: 'x' }))).toEqual({
      creditAmount: 'decimals',
    });
    expect(await traceOf(t, path)).toEqual(before);

    const requested = await ask({ creditAmount: 482.25, note: 'As a courtesy' });
    expect(requested.body).toMatchObject({ status: 'TRADE_CREDIT_REQUESTED', creditAmount: DECLARED });
    expect((await staff.post(`${path}/resolve`)).body.creditAmount).toBe(DECLARED);
    const { record, events, entries } = await traceOf(t, path);
    expect(record.creditAmount).toBe(DECLARED);
    expect(events.slice(-2).map(({ data }: { data: TradeReturn }) => data.creditAmount)).toEqual([
      DECLARED,
      DECLARED,
    ]);
    expect(entries.at(-2)).toMatchObject({
      note: 'As a courtesy',
      data: { creditAmount: DECLARED, computedAmount: 241 },
    });
  });

  it('needs no note if the amount is the computed one, and may be zero', async ({ t, staff }) => {
    const same = await received(t, staff);
    expect(await staff.post(`${same}/request-credit`, { creditAmount: 241 })).toHaveStatus(200);
    expect((await entriesOf(t, same)).at(-1).data).toEqual({ creditAmount: 241 });
    const none = await received(t, staff);
    const requested = await staff.post(`${none}/request-credit`, { creditAmount: 0, note: 'Their fault' });
    expect(requested.body.creditAmount).toBe(0);
  });

  it('can be confirmed with all the digits that an API client read', async ({ t, staff }) => {
    const items = [
      { sku: 'WIRE', productName: 'Wire, by the metre', quantity: 2.5, price: 3.3333 },
      { sku: 'DUST', productName: 'Dust', quantity: 0.0001, price: 0.0001 },
    ];
    const path = await approved(t, staff, items);
    const { creditAmount } = (await staff.post(`${path}/receive`)).body;
    expect(creditAmount).toBe(8.33325001);
    expect((await staff.post(`${path}/request-credit`, { creditAmount })).body).toMatchObject({
      creditAmount,
    });
  });

  it('is empty for a return that is rejected after a receipt, which keeps its quantities', async ({
    t,
    staff,
  }) => {
    const path = await approved(t, staff);
    await staff.post(`${path}/receive`, { lines: [{ line: 1, received: 3, accepted: 2 }] });
    const rejected = await staff.post(`${path}/reject`);
    expect(rejected.body).toMatchObject({ status: 'TRADE_REJECTED', creditAmount: null });
    expect(figuresIn(rejected)).toEqual([
      [3, 2],
      [0, 0],
    ]);
    expect((await eventsOf(t, path)).at(-1).data).not.toHaveProperty('creditAmount');
  });

  it('has all its digits in every response, event and timeline entry', async ({ t, staff }) => {
    const huge = { ...LAMP, quantity: 9999.9999, price: 99999999999.9999 };
    const digits = '999999989999999.00000001';
    const headers = {
      'x-api-key': t.client.apiKey,
      'content-type': 'application/json',
      'idempotency-key': 'k',
    };
    const create = async () =>
      (
        await fetch(`${t.url}/api/v1/external/v1/trade-returns`, {
          method: 'POST',
          headers,
          body: JSON.stringify(tradeBody({ items: [huge] })),
        })
      ).text();
    const created = await create();
    expect(created).toContain(`"declaredAmount":${digits},"creditAmount":null`);
    expect(await create()).toBe(created);
    const path = `/trade-returns/${JSON.parse(created).id}`;
    for (const move of ['approve', 'receive', 'request-credit']) await staff.post(`${path}/${move}`);
    const read = async (url: string) =>
      (
        await fetch(`${t.url}/api/v1/external/v1${url}`, { headers: { 'x-api-key': t.client.apiKey } })
      ).text();
    expect(await read(path)).toContain(`"creditAmount":${digits}`);
    expect(await read('/trade-returns')).toContain(`"creditAmount":${digits}`);
    expect(await read(`${path}/timeline`)).toContain(`"creditAmount":${digits}`);
    expect(await read('/events')).toContain(`"creditAmount":${digits}`);
  });
});

describe('a correction or an assignment', () => {
  it.for(['offline-repairs', 'trade-returns'] as const)(
    'of %s sends one event with the whole record',
    async (kind, { t, staff }) => {
      const { id } = kind === 'offline-repairs' ? await newRepair(t) : await newTradeReturn(t);
      const path = `/${kind}/${id}`;
      const event = kind === 'offline-repairs' ? 'offline_repair.updated' : 'trade_return.updated';
      const expectEvents = async (count: number) => {
        const { record, events } = await traceOf(t, path);
        expect(events).toHaveLength(count);
        expect(events.at(-1)).toEqual({ event, timestamp: record.updatedAt, data: record });
        expect(events.at(-1).data).not.toHaveProperty('assignee');
      };
      for (let twice = 0; twice < 2; twice += 1) {
        await staff.post(`${path}/correct`, { customerName: 'Zoë' });
        await expectEvents(2);
      }
      await staff.post(`${path}/assign`, { assigneeId: staff.id });
      await staff.post(`${path}/assign`, { assigneeId: staff.id });
      await expectEvents(3);
      await staff.post(`${path}/notes`, { note: 'Called' });
      expect(await eventsOf(t, path)).toHaveLength(3);
    },
  );
});
