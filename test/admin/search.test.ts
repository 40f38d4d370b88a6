// engines: sqlite, postgres

import { sql } from 'kysely';
import { describe, expect } from 'vitest';
import type { FoundReturn } from '../../contract/admin-search.ts';
import type { Person } from '../support/admin.ts';
import { newRepair, newTradeReturn } from '../support/api.ts';
import { repairBody } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';

const it = itWith(sharedHarness());

const searching = (staff: Person) => {
  const search = async (q: string): Promise<FoundReturn[]> => {
    const response = await staff.get(`/search?q=${encodeURIComponent(q)}`);
    expect(response).toHaveStatus(200);
    return response.body.items;
  };
  const found = async (q: string) => (await search(q)).map(({ rmaNumber, match }) => [rmaNumber, match]);
  return { search, found };
};

describe('the search over both kinds', () => {
  it('finds exact matches first, then free text, newest first', async ({ t, staff }) => {
    const { search, found } = searching(staff);
    const faultyItem = { ...repairBody().faultyItem, serialNumber: 'SN-77' };
    const first = await newRepair(t, { faultyItem, externalRef: 'POS-1' });
    const second = await newTradeReturn(t, { externalRef: 'POS-1' });
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
    const { id, rmaNumber, status, customerName, updatedAt } = second;
    const shown = { kind: 'TRADE_RETURN', id, rmaNumber, status, customerName, updatedAt, match: null };
    const about = 'Northwind Interiors';
    expect(await search('northwind')).toEqual([{ ...shown, about, orderNumber: 'TO-5501' }]);
    expect((await search('SN-77'))[0]?.about).toBe('Kettle 1.7 l');
  });

  it('finds products by name, and a limited number of very many', async ({ t, staff }) => {
    const { found } = searching(staff);
    const drill = { sku: 'D-1', productName: 'Makita DHP484Z Combi Drill', quantity: 1, price: 5 };
    const repair = await newRepair(t, { faultyItem: drill });
    const named = (productName: string) => ({ ...drill, productName });
    const many = Array.from({ length: 249 }, (_, i) => named(`${'lamp '.repeat(40)}${i}`));
    const trade = await newTradeReturn(t, { items: [drill, ...many] });
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

  it('returns at most ten, of one shop, for whatever people type', async ({ t, staff }) => {
    const { found } = searching(staff);
    const other = await t.addShop();
    await t.post('/offline-repairs', repairBody({ orderNumber: 'SO-SECRET' }), { key: other.client.apiKey });
    for (let i = 0; i < 12; i++) await t.post('/offline-repairs', repairBody());
    expect(await found('SO-SECRET')).toEqual([]);
    const listed = await found('kettle');
    expect(listed).toHaveLength(10);
    expect(listed[0]).toEqual(['#RMA-000012', null]);
    for (const odd of ['%', '*', '[a', "'; --", '🔧', 'a b c d e f g h i j k l'])
      expect(await staff.get(`/search?q=${encodeURIComponent(odd)}`), odd).toHaveStatus(200);
    for (const bad of ['', '?q=', `?q=${'x'.repeat(256)}`, '?q=a&page=1'])
      expect(await staff.get(`/search${bad}`), bad).toHaveStatus(400);
  });

  it('finds a row with an unreadable item', async ({ t, staff }) => {
    const { id, rmaNumber } = await newRepair(t);
    await sql`update offline_repairs set faulty_item = '{' where id = ${id}`.execute(t.ctx.db);
    expect(await searching(staff).search(rmaNumber)).toMatchObject([{ id, about: '', match: 'number' }]);
  });

  it('finds names without accents, apostrophes and case, as rows and in lists', async ({ t, staff }) => {
    const { found } = searching(staff);
    const names = [
      'Wojciech Śmigły',
      'Siobhán O’Brien',
      'Bjørn Håkonsen',
      'Jürgen Groß',
      'İpek Işık',
      'Đặng Thị',
    ];
    const made = new Map<string, string>();
    for (const customerName of names) {
      const { rmaNumber } = await newRepair(t, { customerName, customerEmail: 'someone@example.com' });
      made.set(customerName, rmaNumber);
    }
    for (const [typed, name] of [
      ['smigly', 'Wojciech Śmigły'],
      ['ŚMIGŁY', 'Wojciech Śmigły'],
      ["o'brien", 'Siobhán O’Brien'],
      ['obrien siobhan', 'Siobhán O’Brien'],
      ['bjorn hakonsen', 'Bjørn Håkonsen'],
      ['GROSS', 'Jürgen Groß'],
      ['ipek isik', 'İpek Işık'],
      ['dang thi'.normalize('NFD'), 'Đặng Thị'],
    ] as const) {
      expect(await found(typed), typed).toEqual([[made.get(name), null]]);
      const { body } = await staff.get(`/offline-repairs?q=${encodeURIComponent(typed)}`);
      expect(body.items, typed).toMatchObject([{ customerName: name }]);
    }
    const trade = await newTradeReturn(t, { companyName: 'Crêperie L’Étoile' });
    for (const query of ['q=etoile', 'company=crêperie', 'company=L’ÉTOILE'])
      expect((await staff.get(`/trade-returns?${query}`)).body.items, query).toMatchObject([
        { id: trade.id },
      ]);
    // These filters compare the letters themselves, in any case.
    for (const query of ['company=etoile', 'company=creperie'])
      expect((await staff.get(`/trade-returns?${query}`)).body.items, query).toEqual([]);
  });

  it('finds exact matches in any case', async ({ t, staff }) => {
    const { found } = searching(staff);
    const faultyItem = { ...repairBody().faultyItem, serialNumber: 'Sn-78a' };
    const first = await newRepair(t, { faultyItem, externalRef: 'Pos-78' });
    const second = await newTradeReturn(t, { tradeOrderNumber: 'To-78' });
    for (const [typed, rmaNumber, match] of [
      ['POS-78', first.rmaNumber, 'reference'],
      ['sN-78A', first.rmaNumber, 'serial'],
      ['TO-78', second.rmaNumber, 'order'],
    ] as const)
      expect(await found(typed), typed).toEqual([[rmaNumber, match]]);
    expect(await found('POS-7')).toEqual([[first.rmaNumber, null]]);
    const other = await newRepair(t, { externalRef: 'POS-78' });
    expect(await found('POS-78')).toEqual([
      [other.rmaNumber, 'reference'],
      [first.rmaNumber, 'reference'],
    ]);
  });

  it('finds phone numbers by their digits, with and without the country', async ({ t, staff }) => {
    const { found } = searching(staff);
    const phones = ['+44 20 7946 0958', '(020) 7946-0123', '+49 (0)30 123456', '0043 1 5134567'];
    const made: string[] = [];
    for (const customerPhone of phones) made.push((await newRepair(t, { customerPhone })).rmaNumber);
    for (const [index, spellings] of [
      ['+44 20 7946 0958', '020 7946 0958', '0044 (0)20 79460958', '02079460958', '7946 0958'],
      ['+44 20 7946 0123', '020-7946-0123', '+44 (0) 20 7946 0123'],
      ['+49 30 123456', '030 / 123456', '004930123456'],
      ['+43 1 5134567', '01 5134567'],
    ].entries())
      for (const phone of spellings) {
        expect(await found(phone), phone).toEqual([[made[index], null]]);
        const { body } = await staff.get(`/offline-repairs?q=${encodeURIComponent(phone)}`);
        expect(body.total, phone).toBe(1);
      }
  });

  it('finds a return by its number without prefix and zeros', async ({ t, staff }) => {
    const { found } = searching(staff);
    const numbers: string[] = [];
    for (let i = 0; i < 12; i++) numbers.push((await newRepair(t)).rmaNumber);
    expect(await found('12')).toContainEqual(['#RMA-000012', 'number']);
    expect((await found('1'))[0]).toEqual(['#RMA-000001', 'number']);
    expect((await found('rma-7'))[0]).toEqual(['#RMA-000007', 'number']);
  });
});
