import { describe, expect, it } from 'vitest';
import { OFFLINE_REPAIR_STATUSES } from '../../contract/lifecycle.ts';
import { createClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/caller.ts';
import { newId } from '../../src/ids.ts';
import { KINDS, newRepair, newRma, newStaffRepair, newStaffRma, rulesOf, stopClock } from '../support/api.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';

const harness = sharedHarness();

const list = async (t: Harness, query: Record<string, string> = {}) => {
  const { status, body } = await t.get(`/offline-repairs?${new URLSearchParams(query)}`);
  expect(status).toBe(200);
  return body;
};
const numbersIn = (body: { items: { rmaNumber: string }[] }) =>
  body.items.map(({ rmaNumber }) => Number(rmaNumber.slice('#RMA-'.length)));
const found = async (t: Harness, query: Record<string, string>) => numbersIn(await list(t, query));
const many = async (
  t: Harness,
  count: number,
  more: (index: number) => Record<string, unknown> = () => ({}),
) => {
  for (let index = 1; index <= count; index += 1) await newRepair(t, more(index));
};

describe('looking for one', () => {
  const withSerial = (serialNumber: string | null) => ({
    faultyItem: { sku: 'KETTLE-17', productName: 'Kettle', quantity: 1, price: 1, serialNumber },
  });

  it.each(KINDS)('by its number, however it is written, at /%s', async (kind) => {
    const t = await harness();
    const other = await t.addShop();
    for (let i = 0; i < 3; i++) await newRma(t, kind);
    await newRma(t, kind, {}, { key: other.client.apiKey });
    await newStaffRma(t, kind);
    const { body: all } = await t.get(`/${kind}`);
    const second = all.items[1];
    const asked = async (rmaNumber: string, more = {}) => {
      const { status, body } = await t.get(`/${kind}?${new URLSearchParams({ rmaNumber, ...more })}`);
      expect(status).toBe(200);
      return body;
    };
    for (const told of ['#RMA-000002', 'RMA-000002', '000002'])
      expect(await asked(told)).toEqual({ items: [second], total: 1, page: 1, limit: 20, totalPages: 1 });
    expect(await asked('000002', { page: '2' })).toMatchObject({ items: [], total: 1, totalPages: 1 });
    expect(await asked('000002', { status: second.status, updatedSince: second.updatedAt })).toMatchObject({
      total: 1,
    });
    expect(await asked('000002', { externalRef: 'none' })).toMatchObject({ items: [], total: 0 });
    // What staff made, and numbers that nobody has yet.
    for (const none of ['000004', '000005', '#RMA-1234567', 'RMA-999999999999999'])
      expect(await asked(none)).toMatchObject({ items: [], total: 0, totalPages: 0 });
  });

  it.each(KINDS)('by what is no number is refused at /%s', async (kind) => {
    const t = await harness();
    for (const wrong of ['', '2', '00002', '0000002', '#000002', 'rma-000002', 'RMA000002', '1e6', '-000002'])
      expect(rulesOf(await t.get(`/${kind}?${new URLSearchParams({ rmaNumber: wrong })}`))).toEqual({
        rmaNumber: 'format',
      });
    expect(rulesOf(await t.get(`/${kind}?rmaNumber=1000000000000000`))).toEqual({ rmaNumber: 'format' });
    const { body } = await t.get(`/${kind}?rmaNumber=2`);
    expect(body.message).toEqual(['rmaNumber must be an RMA number: #RMA-000123, RMA-000123 or 000123']);
  });

  it('by the serial number of the item, to the letter', async () => {
    const t = await harness();
    const other = await t.addShop();
    for (const serial of ['SN-1', 'SN-2', null, 'sn-1', ' SN-1 ']) await newRepair(t, withSerial(serial));
    await newRepair(t, withSerial('SN-1'), { key: other.client.apiKey });
    await newStaffRepair(t, withSerial('SN-1'));
    expect(await found(t, { serialNumber: 'SN-1' })).toEqual([5, 1]);
    expect(await list(t, { serialNumber: 'SN-1' })).toMatchObject({ total: 2, totalPages: 1 });
    expect(await list(t, { serialNumber: 'SN-1', limit: '1' })).toMatchObject({ total: 2, totalPages: 2 });
    expect(await found(t, { serialNumber: 'SN-1', rmaNumber: '000001' })).toEqual([1]);
    expect(await found(t, { serialNumber: 'SN-1', status: 'OFFLINE_CLOSED' })).toEqual([]);
    expect(await found(t, { serialNumber: 'SN' })).toEqual([]);
    expect(rulesOf(await t.get('/offline-repairs?serialNumber='))).toEqual({ serialNumber: 'notEmpty' });
    expect(rulesOf(await t.get('/trade-returns?serialNumber=SN-1'))).toEqual({ serialNumber: 'unknown' });
  });
});

describe('paging', () => {
  it('answers with an empty list before anything is there', async () => {
    const t = await harness();
    expect(await list(t)).toEqual({ items: [], total: 0, page: 1, limit: 20, totalPages: 0 });
  });

  it('gives twenty a page unless told otherwise, newest first, each repair once', async () => {
    const t = await harness();
    await many(t, 45);
    const first = await list(t);
    expect(first).toMatchObject({ total: 45, page: 1, limit: 20, totalPages: 3 });
    expect(numbersIn(first)).toEqual(Array.from({ length: 20 }, (_, index) => 45 - index));
    const pages = await Promise.all(['1', '2', '3'].map((page) => list(t, { page })));
    expect(pages.flatMap(numbersIn)).toEqual(Array.from({ length: 45 }, (_, index) => 45 - index));
    expect(pages[2].items).toHaveLength(5);

    const past = await list(t, { page: '4' });
    expect(past).toEqual({ items: [], total: 45, page: 4, limit: 20, totalPages: 3 });
    expect((await list(t, { page: '1000000000', limit: '100' })).items).toEqual([]);
    expect(await list(t, { limit: '100' })).toMatchObject({ limit: 100, totalPages: 1 });
    expect(await list(t, { limit: '45' })).toMatchObject({ totalPages: 1 });
    expect(await list(t, { limit: '44' })).toMatchObject({ totalPages: 2 });
    expect(await found(t, { limit: '1', page: '45' })).toEqual([1]);
  });

  it('counts exactly also where very many have the same reference', async () => {
    const t = await harness({ own: true });
    await newRepair(t, { externalRef: 'POS-1' });
    const {
      id: _,
      number,
      ...same
    } = await t.ctx.db.selectFrom('offline_repairs').selectAll().executeTakeFirstOrThrow();
    const grownTo = async (count: number, from: number) => {
      const rows = Array.from({ length: count - from }, (_, i) => ({
        ...same,
        id: newId(same.created_at),
        number: number + from + i,
      }));
      await t.ctx.db.insertInto('offline_repairs').values(rows).execute();
      return list(t, { externalRef: 'POS-1' });
    };
    expect(await grownTo(200, 1)).toMatchObject({ total: 200, totalPages: 10 });
    expect(await grownTo(201, 200)).toMatchObject({ total: 201, totalPages: 11 });
    expect(await grownTo(230, 201)).toMatchObject({ total: 230, totalPages: 12 });
    expect(await list(t, { externalRef: 'POS-1', page: '12' })).toMatchObject({ total: 230 });
    expect((await list(t, { externalRef: 'POS-1', page: '12' })).items).toHaveLength(10);
    // Deep pages are found another way, and hold the same.
    const numbers = (from: number, count: number) => Array.from({ length: count }, (_, i) => from - i);
    expect(await found(t, { externalRef: 'POS-1', page: '11' })).toEqual(numbers(30, 20));
    expect(await found(t, { externalRef: 'POS-1', page: '12' })).toEqual(numbers(10, 10));
    expect(await found(t, { limit: '3', page: '75' })).toEqual(numbers(8, 3));
    expect(await found(t, { limit: '100', page: '3' })).toEqual(numbers(30, 30));
    const since = { updatedSince: '2020-01-01T00:00:00Z' };
    expect(await found(t, { ...since, limit: '10', page: '22' })).toEqual(numbers(20, 10));
  });

  it('refuses pages and limits outside their bounds, and what is no whole number', async () => {
    const t = await harness();
    const wrong = ['0', '-1', '1.5', '1e1', '0x1', '', ' ', 'one', 'NaN', '99999999999999999999', '１'];
    for (const name of ['page', 'limit'])
      for (const value of [...wrong, ...(name === 'limit' ? ['101', '1000'] : [])])
        expect({
          value,
          faults: Object.keys(
            rulesOf(await t.get(`/offline-repairs?${new URLSearchParams({ [name]: value })}`)),
          ),
        }).toEqual({
          value,
          faults: [name],
        });
    expect(Object.keys(rulesOf(await t.get('/offline-repairs?page=0&limit=0')))).toEqual(['page', 'limit']);
    for (const query of ['page=1&page=2', 'status=CLOSED&status=CLOSED', 'storeId=a&storeId=b']) {
      const [name = ''] = query.split('=');
      const answer = await t.get(`/offline-repairs?${query}`);
      expect(rulesOf(answer)).toEqual({ [name]: 'repeated' });
      expect(answer.body.message).toEqual([`${name} is there more than once`]);
    }
  });

  it('keeps its order when repairs change, and when they were made in the same millisecond', async () => {
    const t = await harness();
    const ids: string[] = [];
    for (let index = 0; index < 6; index += 1) ids.push((await newRepair(t)).id);
    for (const id of [ids[3], ids[0], ids[5]]) await t.post(`/offline-repairs/${id}/close`);
    expect(await found(t, {})).toEqual([6, 5, 4, 3, 2, 1]);
    stopClock();
    await Promise.all(Array.from({ length: 10 }, () => newRepair(t)));
    const once = await found(t, { limit: '100' });
    expect(once).toEqual(Array.from({ length: 16 }, (_, index) => 16 - index));
    expect(await found(t, { limit: '100' })).toEqual(once);
  });

  it('shows each repair as reading it alone does', async () => {
    const t = await harness();
    await newRepair(t, { externalRef: 'POS-1', notes: 'x' });
    const { id } = await newRepair(t);
    await t.post(`/offline-repairs/${id}/begin-repair`, { assignedToId: 'tech-1' });
    for (const item of (await list(t)).items)
      expect(item).toEqual((await t.get(`/offline-repairs/${item.id}`)).body);
  });
});

describe('filters', () => {
  it('by status find what is in that status now', async () => {
    const t = await harness();
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1)
      ids.push((await newRepair(t, index === 0 ? { startStatus: 'COUNTER_SWAPPED' } : {})).id);
    await t.post(`/offline-repairs/${ids[2]}/begin-repair`);
    await t.post(`/offline-repairs/${ids[3]}/resolve`, { offlineDisposition: 'WRITE_OFF' });
    await t.post(`/offline-repairs/${ids[4]}/close`);
    const byStatus = await Promise.all(OFFLINE_REPAIR_STATUSES.map((status) => found(t, { status })));
    expect(byStatus).toEqual([[1], [2], [3], [4], [5]]);
    expect(await list(t, { status: 'OFFLINE_REPAIR' })).toMatchObject({ total: 1, totalPages: 1 });
  });

  it('by an unknown status are a 400 that names the known ones', async () => {
    const t = await harness();
    for (const status of ['DONE', 'offline_repair', '', 'TRADE_SUBMITTED']) {
      const answer = await t.get(`/offline-repairs?status=${status}`);
      expect(rulesOf(answer)).toEqual({ status: 'oneOf' });
      for (const known of OFFLINE_REPAIR_STATUSES) expect(answer.body.message[0]).toContain(known);
    }
  });

  it.each(['externalRef', 'externalSource', 'orderNumber', 'storeId'])(
    'by %s find exactly that',
    async (name) => {
      const t = await harness();
      const values = ['A-1', 'A-10', 'a-1', 'A_1', 'A%1', "A'1", 'Ä 1', 'A-1'];
      await many(t, values.length, (index) => ({ [name]: values[index - 1] }));
      await newRepair(t);
      expect(await found(t, { [name]: 'A-1' })).toEqual([8, 1]);
      expect(await found(t, { [name]: ' A-1 ' })).toEqual([8, 1]);
      for (const [index, value] of values.entries())
        if (value !== 'A-1') expect(await found(t, { [name]: value })).toEqual([index + 1]);
      expect(await list(t, { [name]: 'A' })).toMatchObject({ items: [], total: 0, totalPages: 0 });
      expect(await found(t, { [name]: '%' })).toEqual([]);

      expect((await found(t, { [name]: 'x'.repeat(128) })).length).toBe(0);
      const refused = async (query: string) => Object.keys(rulesOf(await t.get(`/offline-repairs?${query}`)));
      expect(await refused(`${name}=${'x'.repeat(129)}`)).toEqual([name]);
      expect(await refused(`${name}=a%00b`)).toEqual([name]);
      expect(await refused(`${name}=`)).toEqual([name]);
      expect(await refused(`${name}=a&${name}=b`)).toEqual([name]);
    },
  );

  it('by updatedSince find what changed at that time or after it', async () => {
    const t = await harness();
    const one = await newRepair(t);
    t.clock.advance(60_000);
    const two = await newRepair(t);
    expect(await found(t, { updatedSince: one.updatedAt })).toEqual([2, 1]);
    expect(await found(t, { updatedSince: two.updatedAt })).toEqual([2]);
    const later = (iso: string, ms: number) => new Date(Date.parse(iso) + ms).toISOString();
    expect(await found(t, { updatedSince: later(one.updatedAt, 1) })).toEqual([2]);
    expect(await found(t, { updatedSince: later(two.updatedAt, 1) })).toEqual([]);

    t.clock.advance(60_000);
    const moved = (await t.post(`/offline-repairs/${one.id}/close`)).body;
    expect(await found(t, { updatedSince: later(two.updatedAt, 1) })).toEqual([1]);
    expect(await found(t, { updatedSince: moved.updatedAt })).toEqual([1]);
    // The same instant, written with another offset.
    const elsewhere = later(moved.updatedAt, 2 * 60 * 60_000).replace('Z', '+02:00');
    expect(await found(t, { updatedSince: elsewhere })).toEqual([1]);
  });

  it('by an updatedSince that is no ISO time are a 400', async () => {
    const t = await harness();
    for (const wrong of [
      'yesterday',
      '2026-11-15',
      '1763199000',
      '2026-13-01T00:00:00Z',
      '2026-02-30T00:00:00Z',
      '2026-11-15T09:30:00',
      '',
    ])
      expect({
        wrong,
        rules: rulesOf(await t.get(`/offline-repairs?${new URLSearchParams({ updatedSince: wrong })}`)),
      }).toEqual({
        wrong,
        rules: { updatedSince: 'format' },
      });
  });

  it('combine', async () => {
    const t = await harness();
    await many(t, 8, (index) => ({
      externalRef: index % 2 ? 'odd' : 'even',
      storeId: index > 4 ? 'late' : 'early',
      startStatus: index === 7 ? 'COUNTER_SWAPPED' : undefined,
    }));
    expect(await found(t, { externalRef: 'odd', storeId: 'late' })).toEqual([7, 5]);
    expect(await found(t, { externalRef: 'odd', storeId: 'late', status: 'COUNTER_SWAPPED' })).toEqual([7]);
    expect(await list(t, { externalRef: 'even', limit: '3', page: '2' })).toMatchObject({
      total: 4,
      totalPages: 2,
      items: [{ rmaNumber: '#RMA-000002' }],
    });
  });
});

describe('a list', () => {
  it('holds what all programs of the shop made, and nothing else', async () => {
    const t = await harness();
    const erp = await createClient(t.ctx, OPERATOR, { shopId: t.shop.id, name: 'ERP', webhookUrl: null });
    const other = await t.addShop();
    await newRepair(t);
    await newRepair(t, {}, { key: erp.apiKey });
    await newStaffRepair(t);
    await newRepair(t, {}, { key: other.client.apiKey });
    expect(await list(t)).toMatchObject({
      total: 2,
      items: [{ rmaNumber: '#RMA-000002' }, { rmaNumber: '#RMA-000001' }],
    });
    const theirs = (await t.get('/offline-repairs', { key: other.client.apiKey })).body;
    expect(theirs).toMatchObject({ total: 1 });
  });
});
