import { describe, expect, it } from 'vitest';
import type { FoundReturn } from '../../contract/admin-search.ts';
import { newPerson } from '../support/admin.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { harness } from '../support/harness.ts';

const shop = async () => {
  const t = await harness();
  const staff = await newPerson(t, { role: 'STAFF' });
  const search = async (q: string): Promise<FoundReturn[]> => {
    const { status, body } = await staff.get(`/search?q=${encodeURIComponent(q)}`);
    expect(status).toBe(200);
    return body.items;
  };
  const found = async (q: string) => (await search(q)).map(({ rmaNumber, match }) => [rmaNumber, match]);
  return { t, staff, search, found };
};

describe('the search over both kinds', () => {
  it('finds exact matches first, by what they match, then free text, the newest first', async () => {
    const { t, staff, search, found } = await shop();
    const faultyItem = {
      sku: 'KETTLE-17',
      productName: 'Kettle 1.7 l',
      quantity: 1,
      price: 5,
      serialNumber: 'SN-77',
    };
    const { body: first } = await t.post(
      '/offline-repairs',
      repairBody({ faultyItem, externalRef: 'POS-1' }),
    );
    const { body: second } = await t.post('/trade-returns', tradeBody({ externalRef: 'POS-1' }));
    // Its order looks like the number of the first.
    const { body: third } = await staff.post('/offline-repairs', repairBody({ orderNumber: '000001' }));
    expect(await found('SN-77')).toEqual([[first.rmaNumber, 'serial']]);
    expect(await found('POS-1')).toEqual([
      [second.rmaNumber, 'reference'],
      [first.rmaNumber, 'reference'],
    ]);
    expect(await found('TO-5501')).toEqual([[second.rmaNumber, 'order']]);
    for (const told of [first.rmaNumber, 'RMA-000001'])
      expect(await found(told)).toEqual([[first.rmaNumber, 'number']]);
    expect(await found('000001')).toEqual([
      [third.rmaNumber, 'order'],
      [first.rmaNumber, 'number'],
    ]);
    expect(await found('pereira ada')).toEqual([
      [third.rmaNumber, null],
      [first.rmaNumber, null],
    ]);
    expect(await found('nowhere')).toEqual([]);
    expect(await search('northwind')).toEqual([
      {
        kind: 'TRADE_RETURN',
        id: second.id,
        rmaNumber: second.rmaNumber,
        status: 'TRADE_SUBMITTED',
        customerName: 'Nora Wind',
        about: 'Northwind Interiors',
        orderNumber: 'TO-5501',
        match: null,
        updatedAt: second.updatedAt,
      },
    ]);
    expect((await search('SN-77'))[0]?.about).toBe('Kettle 1.7 l');
  });

  it('finds products by their names, also after a correction, and a bounded part of very many', async () => {
    const { t, staff, found } = await shop();
    const drill = { sku: 'D-1', productName: 'Makita DHP484Z Combi Drill', quantity: 1, price: 5 };
    const { body: repair } = await t.post('/offline-repairs', repairBody({ faultyItem: drill }));
    const many = Array.from({ length: 249 }, (_, i) => ({
      ...drill,
      productName: `${'lamp '.repeat(40)}${i}`,
    }));
    const { body: trade } = await t.post('/trade-returns', tradeBody({ items: [drill, ...many] }));
    const both = [
      [trade.rmaNumber, null],
      [repair.rmaNumber, null],
    ];
    expect(await found('makita')).toEqual(both);
    expect(await found('drill dhp484')).toEqual(both);
    const { updatedAt: seen } = (await staff.get(`/offline-repairs/${repair.id}`)).body;
    await staff.post(`/offline-repairs/${repair.id}/correct`, { customerName: 'Ana', seen });
    expect(await found('makita ana')).toEqual([[repair.rmaNumber, null]]);
    const row = await t.ctx.db
      .selectFrom('trade_returns')
      .select('search_text')
      .where('id', '=', trade.id)
      .executeTakeFirstOrThrow();
    expect(row.search_text.length).toBeLessThan(4_000);
  });

  it('answers with ten at most, of one shop, and takes what people type', async () => {
    const { t, staff, found } = await shop();
    const other = await t.addShop();
    await t.post('/offline-repairs', repairBody({ orderNumber: 'SO-SECRET' }), { key: other.client.apiKey });
    for (let i = 0; i < 12; i++) await t.post('/offline-repairs', repairBody());
    expect(await found('SO-SECRET')).toEqual([]);
    const listed = await found('kettle');
    expect(listed).toHaveLength(10);
    expect(listed[0]).toEqual(['#RMA-000012', null]);
    for (const odd of ['%', '*', '[a', "'; --", '🔧', 'a b c d e f g h i j k l'])
      expect((await staff.get(`/search?q=${encodeURIComponent(odd)}`)).status, odd).toBe(200);
    for (const bad of ['', '?q=', `?q=${'x'.repeat(256)}`, '?q=a&page=1'])
      expect((await staff.get(`/search${bad}`)).status, bad).toBe(400);
  });

  it('finds a row whose item cannot be read', async () => {
    const { t, search } = await shop();
    const { body } = await t.post('/offline-repairs', repairBody());
    await t.ctx.db
      .updateTable('offline_repairs')
      .set({ faulty_item: '{' } as never)
      .where('id', '=', body.id)
      .execute();
    expect(await search(body.rmaNumber)).toMatchObject([{ id: body.id, about: '', match: 'number' }]);
  });
});
