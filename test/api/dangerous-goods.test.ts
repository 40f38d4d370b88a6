// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import { OPERATOR } from '../../src/audit/store.ts';
import { changeDangerousGoods } from '../../src/shops/dangerous-goods.ts';
import { newRepair, rulesOf } from '../support/api.ts';
import { repairBody } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, type SendOptions, sharedHarness } from '../support/harness.ts';

const it = itWith(sharedHarness());

const rules = (t: Harness, ...add: string[]) =>
  changeDangerousGoods(t.ctx, OPERATOR, t.shop.id, { add, remove: [] });
const withSku = (t: Harness, sku: string, options?: SendOptions) =>
  newRepair(t, { faultyItem: { ...repairBody().faultyItem, sku } }, options);
const dangerous = async (t: Harness, ...skus: string[]) => {
  const found: string[] = [];
  for (const sku of skus) if ((await withSku(t, sku)).isDangerous) found.push(sku);
  return found;
};

describe('isDangerous', () => {
  const CASES: [what: string, rules: string[], found: string[], not: string[]][] = [
    ['false while the shop has no rules', [], [], ['BATTERY', '*', '%']],
    [
      'true if the SKU equals a rule exactly, without the space around it',
      ['BATTERY-9V'],
      ['BATTERY-9V', '  BATTERY-9V '],
      ['BATTERY-9', 'BATTERY-9VX', 'battery-9v', 'XBATTERY-9V'],
    ],
    [
      'true if the SKU starts with the prefix of a rule with *',
      ['LI-*'],
      ['LI-', 'LI-1', 'LI-ION/18650'],
      ['LI', 'li-1', 'XLI-1', 'LI_1'],
    ],
    [
      'true only if every other character is the same',
      ['A_1', 'B%*', 'C*D', 'E\\*', 'Ä🙂*', "F'*"],
      ['A_1', 'B%', 'B%x', 'C*D', 'E\\x', 'Ä🙂-1', "F'1"],
      ['AX1', 'Bx', 'CxD', 'C', 'Ex', 'Ä-1', 'ä🙂', 'F1'],
    ],
    ['true for every SKU if a rule is just *', ['*'], ['KETTLE', '1'], []],
  ];
  it.for(CASES)('is %s', async ([, own, found, not], { t }) => {
    await rules(t, ...own);
    expect(await dangerous(t, ...found, ...not)).toEqual(found);
  });

  it('is computed at creation and does not change with the rules', async ({ t }) => {
    await rules(t, 'ACID');
    const acid = await withSku(t, 'ACID');
    const kettle = await withSku(t, 'KETTLE');
    await changeDangerousGoods(t.ctx, OPERATOR, t.shop.id, { add: ['KETTLE'], remove: ['ACID'] });
    const isDangerous = async (id: string) => (await t.get(`/offline-repairs/${id}`)).body.isDangerous;
    expect([await isDangerous(acid.id), await isDangerous(kettle.id)]).toEqual([true, false]);
    expect((await t.post(`/offline-repairs/${kettle.id}/close`)).body.isDangerous).toBe(false);
    expect(await dangerous(t, 'ACID', 'KETTLE')).toEqual(['KETTLE']);
  });

  it("depends on the shop's own rules and the faulty item only", async ({ t }) => {
    const other = await t.addShop();
    await rules(t, 'ACID');
    expect((await withSku(t, 'ACID', { key: other.client.apiKey })).isDangerous).toBe(false);
    expect((await newRepair(t, { replacementSku: 'ACID', orderNumber: 'ACID' })).isDangerous).toBe(false);
  });
});

describe('the dangerous-goods rules', () => {
  it('are read and replaced as a whole, and apply from the next repair on', async ({ t, admin }) => {
    const put = async (rules: string[]) => (await admin.put('/dangerous-goods', { rules })).body.rules;
    expect((await admin.get('/dangerous-goods')).body).toEqual({ rules: [] });
    expect(await put(['LI-*', 'ACID', 'ACID'])).toEqual(['ACID', 'LI-*']);
    expect(await dangerous(t, 'ACID', 'LI-1')).toEqual(['ACID', 'LI-1']);
    expect(await put(['GAS', 'LI-*'])).toEqual(['GAS', 'LI-*']);
    expect((await admin.get('/dangerous-goods')).body).toEqual({ rules: ['GAS', 'LI-*'] });
    expect(await dangerous(t, 'ACID', 'GAS')).toEqual(['GAS']);
    expect(await put([])).toEqual([]);
    expect(await dangerous(t, 'GAS')).toEqual([]);
  });

  it('keep every character exactly', async ({ admin }) => {
    const rules = ['"', "F'*", 'E\\*', 'Ä🙂*', 'a,b', 'x'.repeat(128), '{}', '🙂'.repeat(128)];
    await admin.put('/dangerous-goods', { rules });
    expect(new Set((await admin.get('/dangerous-goods')).body.rules)).toEqual(new Set(rules));
  });

  it('are limited to 1,000 of 1 to 128 characters each', async ({ admin }) => {
    const put = (rules: unknown) => admin.put('/dangerous-goods', { rules });
    const many = (count: number) => Array.from({ length: count }, (_, i) => `RULE-${i}`);
    expect((await put(many(1000))).body.rules).toHaveLength(1000);
    expect(rulesOf(await put(many(1001)))).toEqual({ rules: 'maxItems' });
    const wrong = rulesOf(await put(['x'.repeat(129), '', ' ', 1]));
    expect(Object.values(wrong)).toEqual(['maxLength', 'notEmpty', 'notEmpty', 'type']);
    expect(rulesOf(await put('ACID'))).toEqual({ rules: 'type' });
    expect(rulesOf(await admin.put('/dangerous-goods', {}))).toEqual({ rules: 'required' });
    expect((await admin.get('/dangerous-goods')).body.rules).toHaveLength(1000);
  });

  it('are one of the lists, not a mixture, after simultaneous replacements', async ({ admin }) => {
    const lists = ['A', 'B', 'C', 'D'].map((letter) => [`${letter}1`, `${letter}2`, 'SHARED']);
    for (let round = 0; round < 2; round += 1) {
      const responses = await Promise.all(lists.map((rules) => admin.put('/dangerous-goods', { rules })));
      for (const response of responses) expect(response).toHaveStatus(200);
      expect(lists).toContainEqual((await admin.get('/dangerous-goods')).body.rules);
    }
  });

  it('belong to one shop', async ({ admin, stranger }) => {
    await admin.put('/dangerous-goods', { rules: ['ACID'] });
    await stranger.put('/dangerous-goods', { rules: ['GAS'] });
    expect((await stranger.get('/dangerous-goods')).body).toEqual({ rules: ['GAS'] });
    expect((await admin.get('/dangerous-goods')).body).toEqual({ rules: ['ACID'] });
  });
});
