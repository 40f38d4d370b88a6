import { describe, expect } from 'vitest';
import { newRepair, rulesOf } from '../support/api.ts';
import { repairBody } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';

const it = itWith(sharedHarness());

const isDangerous = async (t: Harness, sku: string) =>
  (await newRepair(t, { faultyItem: { ...repairBody().faultyItem, sku } })).isDangerous;

describe('the dangerous-goods rules', () => {
  it('are read and replaced as a whole, and count from the next repair on', async ({ t, admin }) => {
    const put = async (rules: string[]) => (await admin.put('/dangerous-goods', { rules })).body.rules;
    expect((await admin.get('/dangerous-goods')).body).toEqual({ rules: [] });
    expect(await put(['LI-*', 'ACID', 'ACID'])).toEqual(['ACID', 'LI-*']);
    expect([await isDangerous(t, 'ACID'), await isDangerous(t, 'LI-1')]).toEqual([true, true]);
    expect(await put(['GAS', 'LI-*'])).toEqual(['GAS', 'LI-*']);
    expect((await admin.get('/dangerous-goods')).body).toEqual({ rules: ['GAS', 'LI-*'] });
    expect([await isDangerous(t, 'ACID'), await isDangerous(t, 'GAS')]).toEqual([false, true]);
    expect(await put([])).toEqual([]);
    expect(await isDangerous(t, 'GAS')).toBe(false);
  });

  it('keep every character to the letter', async ({ admin }) => {
    const rules = ['"', "F'*", 'E\\*', 'Ä🙂*', 'a,b', 'x'.repeat(128), '{}', '🙂'.repeat(128)];
    await admin.put('/dangerous-goods', { rules });
    expect(new Set((await admin.get('/dangerous-goods')).body.rules)).toEqual(new Set(rules));
  });

  it('are at most 1,000, of 1 to 128 characters each', async ({ admin }) => {
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

  it('are one of the lists, not a mixture, when several people replace them at once', async ({ admin }) => {
    const lists = ['A', 'B', 'C', 'D'].map((letter) => [`${letter}1`, `${letter}2`, 'SHARED']);
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all(lists.map((rules) => admin.put('/dangerous-goods', { rules })));
      for (const { status } of answers) expect(status).toBe(200);
      expect(lists).toContainEqual((await admin.get('/dangerous-goods')).body.rules);
    }
  });

  it("are the shop's own", async ({ admin, stranger }) => {
    await admin.put('/dangerous-goods', { rules: ['ACID'] });
    await stranger.put('/dangerous-goods', { rules: ['GAS'] });
    expect((await stranger.get('/dangerous-goods')).body).toEqual({ rules: ['GAS'] });
    expect((await admin.get('/dangerous-goods')).body).toEqual({ rules: ['ACID'] });
  });
});
