import { describe, expect } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { revokeClient } from '../../src/api-clients/actions.ts';
import { findClient } from '../../src/api-clients/store.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { call, endpoints, KINDS, makeIds, overSocket, rowCounts } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';
import { until } from '../support/until.ts';

const it = itWith(sharedHarness());

describe('the key', () => {
  it('is accepted in X-Api-Key or as a Bearer token, by every endpoint', async ({ t }) => {
    const ids = await makeIds(t);
    const { apiKey } = t.client;
    const ways: { key: string | null; headers: Record<string, string> }[] = [
      { key: apiKey, headers: {} },
      { key: null, headers: { authorization: `Bearer ${apiKey}` } },
      // The scheme's name has no case (RFC 9110).
      { key: null, headers: { authorization: `bearer ${apiKey}` } },
      { key: null, headers: { authorization: `Bearer   ${apiKey}` } },
      { key: apiKey, headers: { authorization: `Bearer ${apiKey}` } },
    ];
    for (const way of ways) {
      for (const endpoint of endpoints(t)) {
        expect(await call(t, endpoint, ids, way)).toHaveStatus(endpoint.isCreation ? 201 : 200);
      }
    }
  });

  it('is refused if there are two Authorization headers, in either order', async ({ t }) => {
    const { client: other } = await t.addShop();
    const keys = [t.client.apiKey, other.apiKey];
    for (const [first, second] of [keys, keys.toReversed(), [keys[0], keys[0]]]) {
      const response = await overSocket(
        t.url,
        `GET ${BASE_PATH}/offline-repairs HTTP/1.1\r\nhost: test\r\nconnection: close\r\n` +
          `authorization: Bearer ${first}\r\nauthorization: Bearer ${second}\r\n\r\n`,
      );
      expect(response).toFailWith(401);
    }
  });

  it('is refused if the two headers differ, even if both keys are valid', async ({ t, erp }) => {
    const { apiKey } = t.client;
    const both = (direct: string, bearer: string) =>
      t.get('/offline-repairs', { key: direct, headers: { authorization: `Bearer ${bearer}` } });
    expect(await both(apiKey, erp.apiKey)).toFailWith(401);
    expect(await both(erp.apiKey, apiKey)).toFailWith(401);
    expect(await both(apiKey, 'handback_ext_wrong')).toFailWith(401);
    expect(await both('handback_ext_wrong', apiKey)).toFailWith(401);
    expect(await both(apiKey, apiKey)).toHaveStatus(200);
  });

  it('is refused if it is unknown, truncated, extended, in another case or of another kind', async ({
    t,
  }) => {
    const { apiKey, webhookSecret, id } = t.client;
    expect(apiKey).toMatch(/^handback_ext_/);
    const invented = ['', 'handback_ext_', `handback_ext_${'0'.repeat(48)}`, "' or 1=1 --"];
    const changed = [apiKey.slice(0, -1), `${apiKey}0`, apiKey.toUpperCase(), `${apiKey}, ${apiKey}`];
    const wrong = [...invented, ...changed, apiKey.replace('handback_ext_', ''), webhookSecret, id];
    for (const key of [null, ...wrong]) {
      const response = await t.get('/offline-repairs', { key });
      expect(response).toFailWith(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
    }
    const malformed = [apiKey, `Basic ${apiKey}`, `Old Bearer ${apiKey}`, `Bearer ${apiKey} ${apiKey}`];
    for (const authorization of [...wrong.map((key) => `Bearer ${key}`), ...malformed])
      expect(await t.get('/offline-repairs', { key: null, headers: { authorization } })).toFailWith(401);
    expect(await t.get(`/offline-repairs?apiKey=${apiKey}`, { key: null })).toFailWith(401);
  });

  it('stops working with the next request once its client is revoked; other keys continue', async ({
    t,
    erp,
  }) => {
    const ids = await makeIds(t);
    await revokeClient(t.ctx, OPERATOR, t.client);
    const before = await rowCounts(t);
    for (const endpoint of endpoints(t)) expect(await call(t, endpoint, ids)).toFailWith(401);
    expect(await rowCounts(t)).toEqual(before);
    for (const kind of KINDS)
      expect(await t.get(`/${kind}/${ids[kind]}`, { key: erp.apiKey })).toHaveStatus(200);
  });

  it('records its last use', async ({ t, erp }) => {
    expect((await findClient(t.ctx.db, t.client.id))?.lastUsedAt).toBeNull();
    // It is written in the background.
    const noteAfter = (ms: number) =>
      until('the use is noted', async () => {
        const at = (await findClient(t.ctx.db, t.client.id))?.lastUsedAt ?? 0;
        return at > ms && at;
      });
    await t.get('/offline-repairs');
    const first = await noteAfter(0);
    expect(Math.abs(first - Date.now())).toBeLessThan(60_000);
    t.clock.advance(60 * 60_000);
    await t.get('/offline-repairs');
    const second = await noteAfter(first);
    expect(second - first).toBeGreaterThanOrEqual(59 * 60_000);
    // To the minute: a call within it writes nothing. The note of another client would come after it.
    t.clock.advance(30_000);
    await t.get('/offline-repairs');
    await t.get('/offline-repairs', { key: erp.apiKey });
    await until('the other one is noted', async () => (await findClient(t.ctx.db, erp.id))?.lastUsedAt);
    expect((await findClient(t.ctx.db, t.client.id))?.lastUsedAt).toBe(second);
  });
});
