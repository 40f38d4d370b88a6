import { describe, expect } from 'vitest';
import { createClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { pluck } from '../support/answers.ts';
import { askAll, call, endpoints, expectError, makeIds, newRma, newStaffRma } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';
import { KINDS } from '../support/kinds.ts';

const harness = sharedHarness();
const it = itWith(harness);

// That an id of another shop, of another kind or of nobody looks the same everywhere is in test/faults/rows/11-foreign-ids.test.ts.

describe('every endpoint with an id', () => {
  it('wants a key even where the id cannot be decoded', async ({ t }) => {
    for (const { path } of KINDS) expectError(await t.get(`${path}/%ZZ`, { key: null }), 401);
  });

  it('is open to every client of the shop, but for the deliveries of another client', async ({ t }) => {
    const erp = await createClient(t.ctx, OPERATOR, { shopId: t.shop.id, name: 'ERP', webhookUrl: null });
    const ids = await makeIds(t);
    const withId = endpoints(t).filter(({ hasId }) => hasId);
    const asked = await askAll(withId, (endpoint) => call(t, endpoint, ids, { key: erp.apiKey }));
    for (const [name, { status }] of Object.entries(asked))
      expect([name, status]).toEqual([name, name.includes('/deliveries/') ? 404 : 200]);
  });
});

describe('lists', () => {
  it.for(KINDS)(
    'at $path show what all programs of the shop created, and nothing else',
    async (row, { t }) => {
      const { kind, marks, start } = row;
      const erp = await createClient(t.ctx, OPERATOR, { shopId: t.shop.id, name: 'ERP', webhookUrl: null });
      const other = await t.addShop();
      await newRma(t, kind, marks, { key: other.client.apiKey });
      await newStaffRma(t, kind, marks);
      const filters = { ...marks, status: start, updatedSince: '2000-01-01T00:00:00Z', limit: '100' };
      const read = async (query: Record<string, string>) =>
        (await t.get(`/${kind}?${new URLSearchParams(query)}`)).body;
      const found = async () => {
        const queries = [filters, ...Object.entries(filters).map(([name, value]) => ({ [name]: value }))];
        const lists = await Promise.all(queries.map(read));
        return lists.map(({ items, total, totalPages }) => [total, totalPages, ...pluck(items, 'id')].join());
      };
      expect(new Set(await found())).toEqual(new Set(['0,0']));
      const { id } = await newRma(t, kind, marks, { key: erp.apiKey });
      expect(new Set(await found())).toEqual(new Set([`1,1,${id}`]));
    },
  );

  it('of one kind hold nothing of the other', async ({ t }) => {
    const ids = await makeIds(t);
    for (const { kind, path } of KINDS)
      expect((await t.get(path)).body).toMatchObject({ total: 1, items: [{ id: ids[kind] }] });
  });
});
