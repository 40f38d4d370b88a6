import { describe, expect } from 'vitest';
import { OPERATOR } from '../../src/audit/store.ts';
import { changeDangerousGoods } from '../../src/shops/dangerous-goods.ts';
import { newRepair } from '../support/api.ts';
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
  it('is false while the shop has no rules', async ({ t }) => {
    expect(await dangerous(t, 'BATTERY', '*', '%')).toEqual([]);
  });

  it('is true for an exact sku of a rule, letter by letter', async ({ t }) => {
    await rules(t, 'BATTERY-9V');
    expect(await dangerous(t, 'BATTERY-9V', 'BATTERY-9', 'BATTERY-9VX', 'battery-9v', 'XBATTERY-9V')).toEqual(
      ['BATTERY-9V'],
    );
    expect((await withSku(t, '  BATTERY-9V ')).isDangerous).toBe(true);
  });

  it('is true for a sku that begins as a rule with * does', async ({ t }) => {
    await rules(t, 'LI-*');
    const found = ['LI-', 'LI-1', 'LI-ION/18650'];
    expect(await dangerous(t, ...found, 'LI', 'li-1', 'XLI-1', 'LI_1')).toEqual(found);
  });

  it('takes every other character as itself', async ({ t }) => {
    await rules(t, 'A_1', 'B%*', 'C*D', 'E\\*', 'Ä🙂*', "F'*");
    const found = ['A_1', 'B%', 'B%x', 'C*D', 'E\\x', 'Ä🙂-1', "F'1"];
    const not = ['AX1', 'Bx', 'CxD', 'C', 'Ex', 'Ä-1', 'ä🙂', 'F1'];
    expect(await dangerous(t, ...found, ...not)).toEqual(found);
  });

  it('is true for everything where a rule is only *', async ({ t }) => {
    await rules(t, '*');
    expect(await dangerous(t, 'KETTLE', '1')).toEqual(['KETTLE', '1']);
  });

  it('is worked out at creation and stays, whatever becomes of the rules', async ({ t }) => {
    await rules(t, 'ACID');
    const acid = await withSku(t, 'ACID');
    const kettle = await withSku(t, 'KETTLE');
    await changeDangerousGoods(t.ctx, OPERATOR, t.shop.id, { add: ['KETTLE'], remove: ['ACID'] });
    const isDangerous = async (id: string) => (await t.get(`/offline-repairs/${id}`)).body.isDangerous;
    expect([await isDangerous(acid.id), await isDangerous(kettle.id)]).toEqual([true, false]);
    expect((await t.post(`/offline-repairs/${kettle.id}/close`)).body.isDangerous).toBe(false);
    expect(await dangerous(t, 'ACID', 'KETTLE')).toEqual(['KETTLE']);
  });

  it("follows the shop's own rules only, and looks at the faulty item only", async ({ t }) => {
    const other = await t.addShop();
    await rules(t, 'ACID');
    expect((await withSku(t, 'ACID', { key: other.client.apiKey })).isDangerous).toBe(false);
    expect((await newRepair(t, { replacementSku: 'ACID', orderNumber: 'ACID' })).isDangerous).toBe(false);
  });
});
