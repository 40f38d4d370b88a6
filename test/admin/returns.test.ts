// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import { OPERATOR } from '../../src/audit/store.ts';
import { changeShop } from '../../src/shops/actions.ts';
import { newPerson } from '../support/admin.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { type ApiResponse, sharedHarness } from '../support/harness.ts';
import { startReceiver } from '../support/receiver.ts';
import { pluck } from '../support/responses.ts';

const harness = sharedHarness();
const it = itWith(harness);

const KINDS = [
  { path: '/offline-repairs', body: repairBody, move: 'begin-repair' },
  { path: '/trade-returns', body: tradeBody, move: 'approve' },
];

describe.each(KINDS)('staff at $path', ({ path, body }) => {
  it('see what API clients and users of their shop created', async ({ t, staff, stranger }) => {
    const byProgram = (await t.post(path, body())).body;
    const made = await staff.post(path, body());
    expect(made).toHaveStatus(201);
    expect(made.body.rmaNumber).toBe('#RMA-000002');
    expect((await staff.get(path)).body).toMatchObject({ total: 2 });
    expect((await stranger.get(path)).body).toMatchObject({ total: 0 });
    const forStaff = (item: object) => ({ ...item, assignee: null, dueAt: null });
    expect((await staff.get(`${path}?origin=API`)).body.items).toEqual([forStaff(byProgram)]);
    expect((await staff.get(`${path}?origin=STAFF`)).body.items).toEqual([forStaff(made.body)]);
    expect((await staff.get(`${path}/${made.body.id}`)).body).toEqual(forStaff(made.body));

    const { items } = (await staff.get(`${path}/${made.body.id}/timeline`)).body;
    expect(items).toMatchObject([
      { type: 'CREATED', actor: { type: 'USER', id: staff.id, name: staff.email } },
    ]);
  });

  it('find returns by words of number, order, customer and SKU, in any case', async ({ t, staff }) => {
    const item = { productName: 'P', quantity: 1, price: 1 };
    const named = (customerName: string, sku: string, order: string) =>
      body(
        path === '/offline-repairs'
          ? { customerName, orderNumber: order, faultyItem: { ...item, sku, serialNumber: `SER-${sku}` } }
          : { customerName, tradeOrderNumber: order, items: [{ ...item, sku }] },
      );
    await t.post(path, named('Zoë Ångström', 'ABC_1', 'ORD-77'));
    await t.post(path, named('Bob 100%', 'ABCX1', 'ORD-78'));
    const found = async (q: string) =>
      pluck((await staff.get(`${path}?q=${encodeURIComponent(q)}`)).body.items, 'customerName');
    expect(await found('zoë')).toEqual(['Zoë Ångström']);
    expect(await found('ÅNGSTRÖM abc')).toEqual(['Zoë Ångström']);
    expect(await found('ord-7')).toEqual(['Bob 100%', 'Zoë Ångström']);
    expect(await found('#rma-000002')).toEqual(['Bob 100%']);
    // A percent sign and an underscore are plain characters.
    expect(await found('100%')).toEqual(['Bob 100%']);
    expect(await found('abc_1')).toEqual(['Zoë Ångström']);
    expect(await found('nobody')).toEqual([]);
    if (path === '/offline-repairs') expect(await found('ser-abcx1')).toEqual(['Bob 100%']);
  });

  it('add notes, which are in the timeline under the name they had then', async ({ t, admin }) => {
    const staff = await newPerson(t, { role: 'STAFF', name: 'Grace Muller' });
    const { id } = (await t.post(path, body())).body;
    expect(await staff.post(`${path}/${id}/notes`, {})).toHaveStatus(400);
    expect(await staff.post(`${path}/${id}/notes`, { note: ' one ' })).toHaveStatus(200);
    await admin.patch(`/users/${staff.id}`, { name: 'Grace Hopper' });
    await staff.post(`${path}/${id}/notes`, { note: 'two' });
    await admin.patch(`/users/${staff.id}`, { name: '' });
    await staff.post(`${path}/${id}/notes`, { note: 'three' });
    const namesFor = async (caller: { get(path: string): Promise<ApiResponse> }) => {
      const items = (await caller.get(`${path}/${id}/timeline`)).body.items.slice(1);
      expect(pluck(items, 'note')).toEqual(['one', 'two', 'three']);
      return pluck(pluck(items, 'actor'), 'name');
    };
    // Programs do not learn people's email addresses; their colleagues do.
    expect(await namesFor(t)).toEqual(['Grace Muller', 'Grace Hopper', 'Staff']);
    expect(await namesFor(staff)).toEqual(['Grace Muller', 'Grace Hopper', staff.email]);
  });

  it('can only read while the subscription is inactive', async ({ t, staff }) => {
    const { id } = (await t.post(path, body())).body;
    await changeShop(t.ctx, OPERATOR, t.shop.id, { subscription: 'inactive' });
    expect(await staff.post(path, body())).toFailWith(403, 'READ_ONLY');
    expect(await staff.post(`${path}/${id}/notes`, { note: 'x' })).toFailWith(403, 'READ_ONLY');
    expect(await staff.get(`${path}/${id}`)).toHaveStatus(200);
  });
});

it('a person who creates a return again with the same key gets the first one', async ({ staff, admin }) => {
  const options = { headers: { 'idempotency-key': 'intake 1' } };
  const first = await staff.post('/offline-repairs', repairBody(), options);
  expect(first).toHaveStatus(201);
  const again = await staff.post('/offline-repairs', repairBody(), options);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(again.body.id).toBe(first.body.id);
  const other = await admin.post('/offline-repairs', repairBody(), options);
  expect(other.body.id).not.toBe(first.body.id);
});

describe('moves by staff', () => {
  it('of a repair send the same events as those of API clients, with the user as actor', async ({
    sending: t,
  }) => {
    const receiver = await startReceiver();
    const staff = await newPerson(t, { role: 'STAFF' });
    const client = await t.addReceiver(receiver.url);
    const { id } = await t.create(client);
    await staff.post(`/offline-repairs/${id}/begin-repair`, { assignedToId: 'tech-1' });
    await staff.post(`/offline-repairs/${id}/close`);
    await receiver.got(3);
    const events = ['closed', 'created', 'status_changed'].map((event) => `offline_repair.${event}`);
    expect(receiver.received.map(({ body }) => body.event).sort()).toEqual(events);
    const { items } = (await t.get(`/offline-repairs/${id}/timeline`)).body;
    const actor = { type: 'USER', id: staff.id, name: 'Staff' };
    expect(pluck(items.slice(1), 'actor')).toEqual([actor, actor]);
  });

  it('of a trade return that are not allowed get a 409 that names the allowed ones', async ({ t, staff }) => {
    const { id } = (await t.post('/trade-returns', tradeBody())).body;
    const move = (name: string, body?: object) => staff.post(`/trade-returns/${id}/${name}`, body);
    const wrong = await move('receive');
    expect(wrong).toFailWith(409, 'MOVE_NOT_ALLOWED');
    expect(wrong.body.message).toContain('open now: approve, reject');
    expect((await move('reject', { note: 'Too late' })).body.status).toBe('TRADE_REJECTED');
    const over = await move('approve');
    expect(over).toFailWith(409, 'MOVE_NOT_ALLOWED');
    expect(over.body.message).toContain('no move is open any more');
    const { items } = (await staff.get(`/trade-returns/${id}/timeline`)).body;
    expect(pluck(items, 'note')).toEqual([null, 'Too late']);
  });
});

describe.each(KINDS)('the order of a list at $path', ({ path, body, move }) => {
  /** Of three returns the first is moved last, which puts it after the others in the order of the work. */
  const three = async () => {
    const t = await harness();
    const staff = await newPerson(t, { role: 'STAFF' });
    const ids: string[] = [];
    for (let made = 0; made < 3; made++) ids.push((await t.post(path, body())).body.id);
    const [first, ...others] = ids;
    for (const id of others) await staff.post(`${path}/${id}/notes`, { note: 'Called' });
    await staff.post(`${path}/${first}/${move}`);
    const listed = async (query: string) =>
      pluck((await staff.get(`${path}?${query}`)).body.items, 'id').map((id) => ids.indexOf(id) + 1);
    return { t, staff, listed };
  };

  it('is the requested one, and newest first by default', async () => {
    const { listed } = await three();
    expect(await listed('')).toEqual([3, 2, 1]);
    expect(await listed('order=asc')).toEqual([1, 2, 3]);
    expect(await listed('sort=number')).toEqual([3, 2, 1]);
    expect(await listed('sort=updatedAt')).toEqual([1, 3, 2]);
    expect(await listed('sort=updatedAt&order=asc')).toEqual([2, 3, 1]);
    expect(await listed('sort=statusSince&order=asc')).toEqual([2, 3, 1]);
    expect(await listed('sort=statusSince')).toEqual([1, 3, 2]);
    // Equal ones stay together, ordered by number.
    expect(await listed('sort=status&order=asc')).toEqual([2, 3, 1]);
    expect(await listed('sort=status')).toEqual([1, 3, 2]);
  });

  it('is consistent across pages and filters', async () => {
    const { listed } = await three();
    for (const sort of ['number', 'updatedAt', 'status']) {
      const whole = await listed(`sort=${sort}&order=asc`);
      const paged = await Promise.all(
        [1, 2, 3].map((page) => listed(`sort=${sort}&order=asc&limit=1&page=${page}`)),
      );
      expect(paged.flat()).toEqual(whole);
    }
    expect(await listed('sort=updatedAt&order=asc&origin=API&q=rma')).toEqual([2, 3, 1]);
    expect(await listed('sort=updatedAt&origin=STAFF')).toEqual([]);
  });

  it('is refused for an unknown column, and for API clients', async () => {
    const { t, staff } = await three();
    expect(await staff.get(`${path}?sort=customerName`)).toHaveStatus(400);
    expect(await staff.get(`${path}?order=down`)).toHaveStatus(400);
    expect(await t.get(`${path}?sort=updatedAt`)).toHaveStatus(400);
    expect(await t.get(`${path}?order=asc`)).toHaveStatus(400);
  });
});

it('returns with many items are ordered like those with few', async ({ t, staff }) => {
  const item = { sku: 'LAMP-OAK', productName: 'Oak table lamp', quantity: 1, price: 1 };
  const large = tradeBody({ items: Array(250).fill(item) });
  const ids: string[] = [];
  for (const body of [large, tradeBody(), large]) ids.push((await t.post('/trade-returns', body)).body.id);
  const listed = async (order: string) =>
    pluck((await staff.get(`/trade-returns?sort=updatedAt&order=${order}`)).body.items, 'id');
  expect(await listed('asc')).toEqual(ids);
  expect(await listed('desc')).toEqual(ids.toReversed());
});
