import { describe, expect } from 'vitest';
import { newPerson } from '../support/admin.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';

const harness = sharedHarness();
const it = itWith(harness);

/** Of three returns the first is moved last, which puts it after the others in the order of the work. */
const KINDS = [
  { path: '/offline-repairs', body: repairBody, move: 'begin-repair', byStatus: [2, 3, 1] },
  { path: '/trade-returns', body: tradeBody, move: 'approve', byStatus: [2, 3, 1] },
];

describe.each(KINDS)('the order of a list at $path', ({ path, body, move, byStatus }) => {
  const three = async () => {
    const t = await harness();
    const staff = await newPerson(t, { role: 'STAFF' });
    const ids: string[] = [];
    for (let made = 0; made < 3; made++) ids.push((await t.post(path, body())).body.id);
    const [first, second, third] = ids;
    expect((await staff.post(`${path}/${second}/notes`, { note: 'Called' })).status).toBe(200);
    expect((await staff.post(`${path}/${third}/notes`, { note: 'Called' })).status).toBe(200);
    expect((await staff.post(`${path}/${first}/${move}`)).status).toBe(200);
    const listed = async (query: string) =>
      (await staff.get(`${path}?${query}`)).body.items.map(({ id }: { id: string }) => ids.indexOf(id) + 1);
    return { t, staff, listed };
  };

  it('is the one that was asked for, newest first without asking', async () => {
    const { listed } = await three();
    expect(await listed('')).toEqual([3, 2, 1]);
    expect(await listed('order=asc')).toEqual([1, 2, 3]);
    expect(await listed('sort=number')).toEqual([3, 2, 1]);
    expect(await listed('sort=updatedAt')).toEqual([1, 3, 2]);
    expect(await listed('sort=updatedAt&order=asc')).toEqual([2, 3, 1]);
    expect(await listed('sort=statusSince&order=asc')).toEqual([2, 3, 1]);
    expect(await listed('sort=statusSince')).toEqual([1, 3, 2]);
  });

  it('by status keeps equals together, in the order of their numbers', async () => {
    const { listed } = await three();
    expect(await listed('sort=status&order=asc')).toEqual(byStatus);
    expect(await listed('sort=status')).toEqual(byStatus.toReversed());
  });

  it('runs on from page to page, and holds what filters leave', async () => {
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

  it('is refused where nothing is ordered by it, and is none of a program’s business', async () => {
    const { t, staff } = await three();
    expect((await staff.get(`${path}?sort=customerName`)).status).toBe(400);
    expect((await staff.get(`${path}?order=down`)).status).toBe(400);
    expect((await t.get(`${path}?sort=updatedAt`)).status).toBe(400);
    expect((await t.get(`${path}?order=asc`)).status).toBe(400);
  });
});

it('returns of many items are ordered as those of few', async ({ t, staff }) => {
  const item = { sku: 'LAMP-OAK', productName: 'Oak table lamp', quantity: 1, price: 1 };
  const large = tradeBody({ items: Array.from({ length: 250 }, () => item) });
  const ids: string[] = [];
  for (const body of [large, tradeBody(), large]) ids.push((await t.post('/trade-returns', body)).body.id);
  const listed = async (order: string) =>
    (await staff.get(`/trade-returns?sort=updatedAt&order=${order}`)).body.items.map(
      ({ id }: { id: string }) => ids.indexOf(id) + 1,
    );
  expect(await listed('asc')).toEqual([1, 2, 3]);
  expect(await listed('desc')).toEqual([3, 2, 1]);
});
