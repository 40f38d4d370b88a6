// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { newRepair, newRma, newStaffRepair, newStaffRma, rulesOf, stopClock } from '../support/api.ts';
import { ONLY_SQLITE } from '../support/engines.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { KINDS, type KindRow, REPAIRS, TRADE_RETURNS } from '../support/kinds.ts';
import { atOnce } from '../support/responses.ts';

const harness = sharedHarness();
const it = itWith(harness);

type Query = Record<string, string>;

const later = (iso: string, ms: number) => new Date(Date.parse(iso) + ms).toISOString();
const countdown = (from: number, count = from) => Array.from({ length: count }, (_, index) => from - index);
const numbersIn = (body: { items: { rmaNumber: string }[] }) =>
  body.items.map(({ rmaNumber }) => Number(rmaNumber.slice('#RMA-'.length)));

/** How tests ask for the list of a kind. */
const asking = ({ path, kind, walk }: KindRow) => {
  const list = async (t: Harness, query: Query = {}) => {
    const response = await t.get(`${path}?${new URLSearchParams(query)}`);
    expect(response).toHaveStatus(200);
    return response.body;
  };
  return {
    list,
    /** The numbers of what is found. */
    found: async (t: Harness, query: Query = {}) => numbersIn(await list(t, query)),
    rules: async (t: Harness, query: Query | string) =>
      rulesOf(await t.get(`${path}?${new URLSearchParams(query)}`)),
    /** One for each of these bodies, and their ids. */
    make: async (t: Harness, bodies: Record<string, unknown>[]): Promise<string[]> => {
      const ids: string[] = [];
      for (const more of bodies) ids.push((await newRma(t, kind, more)).id);
      return ids;
    },
    /** Changes one that has not been changed yet. */
    change: (t: Harness, id: string | undefined) => walk[0]?.take(t, id as string),
  };
};

describe.each(KINDS)('the list at $path', (row) => {
  const { kind, path, statuses, start } = row;
  const { list, found, rules, make, change } = asking(row);

  it('returns twenty per page by default, newest first, each once', async ({ t }) => {
    expect(await list(t)).toEqual({ items: [], total: 0, page: 1, limit: 20, totalPages: 0 });
    await make(t, Array(45).fill({}));
    const { items, ...first } = await list(t);
    expect(first).toEqual({ total: 45, page: 1, limit: 20, totalPages: 3 });
    expect(numbersIn({ items })).toEqual(countdown(45, 20));
    const pages = await Promise.all(['1', '2', '3'].map((page) => found(t, { page })));
    expect(pages.flat()).toEqual(countdown(45));
    expect(pages[2]).toHaveLength(5);
    const nines = await Promise.all(['1', '2', '3', '4', '5'].map((page) => found(t, { page, limit: '9' })));
    expect(nines.flat()).toEqual(countdown(45));

    expect(await list(t, { page: '4' })).toEqual({ items: [], total: 45, page: 4, limit: 20, totalPages: 3 });
    expect(await found(t, { page: '1000000000', limit: '100' })).toEqual([]);
    expect(await list(t, { limit: '100' })).toMatchObject({ limit: 100, totalPages: 1 });
    expect(await list(t, { limit: '45' })).toMatchObject({ totalPages: 1 });
    expect(await list(t, { limit: '44' })).toMatchObject({ totalPages: 2 });
    expect(await found(t, { limit: '1', page: '45' })).toEqual([1]);
  });

  it('rejects pages and limits that are out of range or not integers', ONLY_SQLITE, async ({ t }) => {
    const wrong = ['0', '-1', '1.5', '1e1', '0x1', '', ' ', 'one', 'NaN', '99999999999999999999', '１'];
    for (const value of wrong)
      expect(Object.keys(await rules(t, { page: value, limit: value })), value).toEqual(['page', 'limit']);
    for (const name of ['pageSize', 'per_page'])
      expect((await t.get(`${path}?${name}=5`)).body.message).toEqual([
        `${name} is not a known parameter: did you mean limit?`,
      ]);
    for (const limit of ['101', '1000']) expect(Object.keys(await rules(t, { limit }))).toEqual(['limit']);
    for (const name of ['page', 'status', ...row.filters]) {
      const response = await t.get(`${path}?${name}=1&${name}=2`);
      expect(rulesOf(response)).toEqual({ [name]: 'repeated' });
      expect(response.body.message).toEqual([`${name} is there more than once`]);
    }
  });

  it('keeps its order when returns change, and for returns created in the same millisecond', async ({
    t,
  }) => {
    const ids = await make(t, Array(6).fill({}));
    for (const id of [ids[3], ids[0], ids[5]]) await change(t, id);
    expect(await found(t)).toEqual(countdown(6));
    stopClock();
    await atOnce(10, () => newRma(t, kind));
    for (const _ of ['once', 'again']) expect(await found(t, { limit: '100' })).toEqual(countdown(16));
  });

  it('shows each return like a read of it alone', async ({ t }) => {
    const ids = await make(t, [row.whole(), {}, row.whole()]);
    await change(t, ids[1]);
    for (const { take } of row.walk) await take(t, ids[2] as string);
    const { items } = await list(t);
    expect(items).toHaveLength(3);
    for (const item of items) expect(item).toEqual((await t.get(`${path}/${item.id}`)).body);
  });

  it('finds one return by its number, in every spelling of the number', async ({ t }) => {
    const other = await t.addShop();
    await make(t, [{}, {}, {}]);
    await newRma(t, kind, {}, { key: other.client.apiKey });
    await newStaffRma(t, kind);
    const second = (await list(t)).items[1];
    for (const rmaNumber of ['#RMA-000002', 'RMA-000002', '000002'])
      expect(await list(t, { rmaNumber })).toMatchObject({ items: [second], total: 1, totalPages: 1 });
    const asked = (more: Query) => list(t, { rmaNumber: '000002', ...more });
    expect(await asked({ page: '2' })).toMatchObject({ items: [], total: 1, totalPages: 1 });
    expect(await asked({ status: start, updatedSince: second.updatedAt })).toMatchObject({ total: 1 });
    expect(await asked({ externalRef: 'none' })).toMatchObject({ items: [], total: 0 });
    // What staff created, and numbers that are not given yet.
    for (const rmaNumber of ['000004', '000005', '#RMA-1234567', 'RMA-999999999999999'])
      expect(await list(t, { rmaNumber })).toMatchObject({ items: [], total: 0, totalPages: 0 });
  });

  it('filters by the current status', async ({ t }) => {
    for (const status of statuses) await row.reach(t, status);
    const byStatus = await Promise.all(statuses.map((status) => list(t, { status })));
    expect(byStatus.map(numbersIn)).toEqual(statuses.map((_, index) => [index + 1]));
    for (const page of byStatus) expect(page).toMatchObject({ total: 1, totalPages: 1 });
  });

  it('rejects an unknown status and names the known ones', ONLY_SQLITE, async ({ t }) => {
    const ofTheOther = KINDS.find((other) => other !== row)?.start ?? '';
    for (const status of ['DONE', start.toLowerCase(), '', ofTheOther]) {
      const response = await t.get(`${path}?status=${status}`);
      expect(rulesOf(response)).toEqual({ status: 'oneOf' });
      for (const known of statuses) expect(response.body.message[0]).toContain(known);
    }
  });

  it.for(row.filters)('filters by %s exactly', async (name, { t }) => {
    const values = ['A-1', 'A-10', 'a-1', 'A_1', 'A%1', "A'1", 'Ä 1', 'A-1'];
    await make(t, [...values.map((value) => ({ [name]: value })), {}]);
    for (const same of ['A-1', ' A-1 ']) expect(await found(t, { [name]: same })).toEqual([8, 1]);
    for (const [index, value] of values.entries())
      if (value !== 'A-1') expect(await found(t, { [name]: value })).toEqual([index + 1]);
    expect(await list(t, { [name]: 'A' })).toMatchObject({ items: [], total: 0, totalPages: 0 });
    for (const none of ['%', 'x'.repeat(128)]) expect(await found(t, { [name]: none })).toEqual([]);
  });

  it('filters by updatedSince, including that moment', async ({ t }) => {
    const one = await newRma(t, kind);
    t.clock.advance(60_000);
    const two = await newRma(t, kind);
    const since = (updatedSince: string) => found(t, { updatedSince });
    expect(await since(one.updatedAt)).toEqual([2, 1]);
    expect(await since(later(one.updatedAt, 1))).toEqual([2]);
    expect(await since(two.updatedAt)).toEqual([2]);
    expect(await since(later(two.updatedAt, 1))).toEqual([]);
    t.clock.advance(60_000);
    const { updatedAt } = await change(t, one.id);
    expect(await since(later(two.updatedAt, 1))).toEqual([1]);
    expect(await since(updatedAt)).toEqual([1]);
    // The same instant, written with another offset.
    expect(await since(later(updatedAt, 2 * 60 * 60_000).replace('Z', '+02:00'))).toEqual([1]);
  });

  it('rejects an invalid number, text or time', ONLY_SQLITE, async ({ t }) => {
    const wrong = ['', '2', '00002', '0000002', '#000002', 'rma-000002', 'RMA000002', '1e6', '-000002'];
    for (const rmaNumber of [...wrong, '1000000000000000'])
      expect(await rules(t, { rmaNumber })).toEqual({ rmaNumber: 'format' });
    const { body } = await t.get(`${path}?rmaNumber=2`);
    expect(body.message).toEqual(['rmaNumber must be an RMA number: #RMA-000123, RMA-000123 or 000123']);
    for (const wrong of ['x'.repeat(129), 'a\0b', '']) {
      const query = Object.fromEntries(row.filters.map((name) => [name, wrong]));
      expect(Object.keys(await rules(t, query)).sort()).toEqual([...row.filters].sort());
    }
    const noSuchDay = ['2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z'];
    const incomplete = ['2026-11-15', '2026-11-15T09:30:00', '1763199000', ''];
    for (const updatedSince of ['yesterday', ...noSuchDay, ...incomplete])
      expect(await rules(t, { updatedSince }), updatedSince).toEqual({ updatedSince: 'format' });
  });

  it('combines all its filters', async ({ t }) => {
    const { marks } = row;
    const ids = await make(t, [marks, marks, marks]);
    for (const name of Object.keys(marks)) await newRma(t, kind, { ...marks, [name]: 'other@example.com' });
    for (const { take } of row.walk) await take(t, ids[1] as string);
    const all = { ...marks, status: start, updatedSince: '2000-01-01T00:00:00Z' };
    expect(await found(t, all)).toEqual([3, 1]);
    expect(await list(t, { ...all, limit: '1', page: '2' })).toMatchObject({
      total: 2,
      totalPages: 2,
      items: [{ id: ids[0] }],
    });
    expect(await found(t, { ...all, status: row.walk.at(-1)?.to ?? '' })).toEqual([2]);
    expect(await found(t, { ...all, updatedSince: '2100-01-01T00:00:00Z' })).toEqual([]);
  });
});

it.each(['offline-repairs', 'trade-returns'] as const)('an id of /%s is case-insensitive', async (kind) => {
  const t = await harness();
  const { id } = await newRma(t, kind);
  expect((await t.get(`/${kind}/${id.toUpperCase()}`)).body.id).toBe(id);
  expect((await t.get(`/${kind}/${id.toUpperCase()}/timeline`)).body.total).toBe(1);
  expect(await t.get(`/deliveries?rmaId=${id.toUpperCase()}`)).toHaveStatus(200);
});

describe('repairs', () => {
  const { list, found, rules, make } = asking(REPAIRS);
  const withSerial = (serialNumber: string | null) => ({
    faultyItem: { sku: 'KETTLE-17', productName: 'Kettle', quantity: 1, price: 1, serialNumber },
  });

  it('are found by the exact serial number of the item', async ({ t }) => {
    const other = await t.addShop();
    await make(t, ['SN-1', 'SN-2', null, 'sn-1', ' SN-1 '].map(withSerial));
    await newRepair(t, withSerial('SN-1'), { key: other.client.apiKey });
    await newStaffRepair(t, withSerial('SN-1'));
    expect(await found(t, { serialNumber: 'SN-1' })).toEqual([5, 1]);
    expect(await list(t, { serialNumber: 'SN-1' })).toMatchObject({ total: 2, totalPages: 1 });
    expect(await list(t, { serialNumber: 'SN-1', limit: '1' })).toMatchObject({ total: 2, totalPages: 2 });
    expect(await found(t, { serialNumber: 'SN-1', rmaNumber: '000001' })).toEqual([1]);
    expect(await found(t, { serialNumber: 'SN-1', status: 'OFFLINE_CLOSED' })).toEqual([]);
    expect(await found(t, { serialNumber: 'SN' })).toEqual([]);
    expect(await rules(t, { serialNumber: '' })).toEqual({ serialNumber: 'notEmpty' });
  });

  it('are counted exactly even if very many have the same reference', async () => {
    const t = await harness({ own: true });
    await newRepair(t, { externalRef: 'POS-1' });
    const first = await t.ctx.db.selectFrom('offline_repairs').selectAll().executeTakeFirstOrThrow();
    const copy = (number: number) => ({ ...first, id: newId(first.created_at), number });
    for (const [from, to, totalPages] of [
      [1, 200, 10],
      [200, 201, 11],
      [201, 230, 12],
    ] as const) {
      const rows = Array.from({ length: to - from }, (_, i) => copy(first.number + from + i));
      await t.ctx.db.insertInto('offline_repairs').values(rows).execute();
      expect(await list(t, { externalRef: 'POS-1' })).toMatchObject({ total: to, totalPages });
    }
    expect(await list(t, { externalRef: 'POS-1', page: '12' })).toMatchObject({ total: 230 });
    // Deep pages are found another way, and hold the same.
    expect(await found(t, { externalRef: 'POS-1', page: '11' })).toEqual(countdown(30, 20));
    expect(await found(t, { externalRef: 'POS-1', page: '12' })).toEqual(countdown(10));
    expect(await found(t, { limit: '3', page: '75' })).toEqual(countdown(8, 3));
    expect(await found(t, { limit: '100', page: '3' })).toEqual(countdown(30));
    const since = { updatedSince: '2020-01-01T00:00:00Z' };
    expect(await found(t, { ...since, limit: '10', page: '22' })).toEqual(countdown(20, 10));
  });
});

it('trade returns are found by customerEmail: the whole address, in any case', async () => {
  const { found, list, rules, make } = asking(TRADE_RETURNS);
  const t = await harness();
  const others = ['a+1@b.co', 'aa@b.co', "o'neil@b.co", 'a_1@b.co', 'zoë@exämple.com'];
  await make(
    t,
    ['a@b.co', ...others, 'A@B.co'].map((customerEmail) => ({ customerEmail })),
  );
  for (const same of ['a@b.co', ' A@b.CO ']) {
    expect(await found(t, { customerEmail: same })).toEqual([7, 1]);
    expect(await list(t, { customerEmail: same, limit: '1' })).toMatchObject({ total: 2, totalPages: 2 });
  }
  for (const [index, customerEmail] of others.entries())
    for (const same of [customerEmail, customerEmail.toUpperCase(), customerEmail.normalize('NFD')])
      expect(await found(t, { customerEmail: same })).toEqual([index + 2]);
  expect(await found(t, { customerEmail: '%@b.co' })).toEqual([]);
  for (const customerEmail of ['x'.repeat(256), '', 'a\0b'])
    expect(Object.keys(await rules(t, { customerEmail }))).toEqual(['customerEmail']);
});
