// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import { RIGHTS, type Right } from '../../contract/common.ts';
import { changeClient, createClient, type NewApiClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { allEndpoints, askAll, call, makeIds, newTradeReturn, rowCounts } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { deliveriesOf } from '../support/outbox.ts';
import { tradeReturnIn } from '../support/trade-moves.ts';

const it = itWith(sharedHarness());

const DAY_MS = 24 * 60 * 60 * 1000;
const withRights = (t: Harness, rights: Right[], more = {}): Promise<NewApiClient> =>
  createClient(t.ctx, OPERATOR, { shopId: t.shop.id, name: 'Program', webhookUrl: null, rights, ...more });
/** What every endpoint responses, and every one that reads to HEAD. */
const answersTo = async (t: Harness, key: string, ids: Parameters<typeof call>[2]) => {
  const all = allEndpoints(t);
  const responses = await askAll(all, async (endpoint) => {
    const { status, body } = await call(t, endpoint, ids, { key });
    return `${status} ${body.code ?? ''}${body.right ? ` ${body.right}` : ''}`.trim();
  });
  const heads = await askAll(
    all.filter(({ method }) => method === 'GET'),
    ({ path }) => t.send(path(ids), { method: 'HEAD', key }),
  );
  return { responses, heads };
};

describe('the OpenAPI document', () => {
  it('names the required right of every endpoint that writes, and of no other', ({ t }) => {
    for (const { name, method, right } of allEndpoints(t))
      if (method === 'GET') expect([name, right]).toEqual([name, null]);
      else expect([name, RIGHTS]).toEqual([name, expect.arrayContaining([right])]);
  });
});

describe('a client', () => {
  it.for([[], ...RIGHTS.map((right) => [right])] as Right[][])(
    'with the rights %j is refused by every endpoint and method that needs another',
    async (rights, { t }) => {
      const ids = await makeIds(t);
      const { apiKey } = await withRights(t, rights);
      const before = await rowCounts(t);
      const { responses, heads } = await answersTo(t, apiKey, ids);
      for (const { name, right } of allEndpoints(t)) {
        const needs = right as Right | null;
        if (needs && !rights.includes(needs))
          expect([name, responses[name]]).toEqual([name, `403 RIGHT_REQUIRED ${needs}`]);
        // Returns are the shop's, whichever client created them; deliveries are those of one client.
        else
          expect(`${name}: ${responses[name]}`).toMatch(
            name.includes('/deliveries/') ? / 404 / : /: (20[01]|409)/,
          );
      }
      for (const [name, response] of Object.entries(heads))
        expect(response).toHaveStatus(name.includes('/deliveries/') ? 404 : 200);
      if (rights.length === 0) expect(await rowCounts(t)).toEqual(before);
    },
  );

  it('has the rights that were set last from its next request on', async ({ t }) => {
    const create = () => newTradeReturn(t);
    const { id } = await create();
    const approve = () => t.post(`/trade-returns/${id}/approve`);
    const refused = await approve();
    expect(refused).toFailWith(403, 'RIGHT_REQUIRED');
    expect(refused.body).toMatchObject({ right: 'move-trade-returns' });
    await changeClient(t.ctx, OPERATOR, t.client.id, { rights: ['move-trade-returns'] });
    expect(await approve()).toHaveStatus(200);
    expect(await t.post('/offline-repairs', {})).toFailWith(403, 'RIGHT_REQUIRED');
  });
});

describe('an expiring key', () => {
  it('is refused by every endpoint and method from that moment on, until a later one is set', async ({
    t,
  }) => {
    const ids = await makeIds(t);
    const expiresAt = t.ctx.clock.now() + DAY_MS;
    const client = await withRights(t, [...RIGHTS], { expiresAt });
    const { apiKey } = client;
    t.clock.advance(DAY_MS - 60_000);
    expect(await t.get('/offline-repairs', { key: apiKey })).toHaveStatus(200);
    t.clock.advance(60_000);
    const before = await rowCounts(t);
    const { responses, heads } = await answersTo(t, apiKey, ids);
    expect(new Set(Object.values(responses))).toEqual(new Set(['401 UNAUTHENTICATED']));
    for (const response of Object.values(heads)) expect(response).toHaveStatus(401);
    expect(await rowCounts(t)).toEqual(before);
    const told = await t.get('/usage', { key: apiKey });
    expect(told.body.message).toContain(new Date(expiresAt).toISOString());
    expect(told.headers.get('www-authenticate')).toBe('Bearer');

    await changeClient(t.ctx, OPERATOR, client.id, { expiresAt: t.ctx.clock.now() + 60_000 });
    expect(await t.get('/usage', { key: apiKey })).toHaveStatus(200);
    t.clock.advance(60_000);
    expect(await t.get('/usage', { key: apiKey })).toFailWith(401);
    await changeClient(t.ctx, OPERATOR, client.id, { expiresAt: null });
    expect(await t.get('/usage', { key: apiKey })).toHaveStatus(200);
  });

  it('leaves the webhooks of its client as they are', async ({ t }) => {
    const expiresAt = t.ctx.clock.now() + 60_000;
    const client = await withRights(t, ['write'], { expiresAt, webhookUrl: 'https://1.1.1.1/hook' });
    const { id } = await newTradeReturn(t, {}, { key: client.apiKey });
    t.clock.advance(61_000);
    await changeClient(t.ctx, OPERATOR, t.client.id, { rights: ['move-trade-returns'] });
    expect(await t.post(`/trade-returns/${id}/approve`)).toHaveStatus(200);
    const deliveries = await deliveriesOf(t);
    expect(deliveries.map(({ receiver_id, event, status }) => [receiver_id, event, status])).toEqual([
      [client.id, 'trade_return.created', 'PENDING'],
      [client.id, 'trade_return.status_changed', 'PENDING'],
    ]);
  });

  it('ends a request that waits for events', async ({ t }) => {
    const { apiKey: key } = await withRights(t, [], { expiresAt: t.ctx.clock.now() + 60_000 });
    const { cursor } = (await t.get('/events?after=latest', { key })).body;
    const waiting = t.get(`/events?after=${cursor}&wait=2`, { key });
    t.clock.advance(61_000);
    expect(await waiting).toFailWith(401);
  });
});

describe('moves of trade returns by an API client', () => {
  const mover = (t: Harness) => withRights(t, ['move-trade-returns']);

  it('cause the same responses, timeline and events as those of staff', async ({ t }) => {
    const { apiKey: key, id: clientId } = await mover(t);
    const receiver = await withRights(t, ['write'], { webhookUrl: 'https://1.1.1.1/hook' });
    const created = await newTradeReturn(t, {}, { key: receiver.apiKey });
    const move = (action: string, body?: unknown) =>
      t.post(`/trade-returns/${created.id}/${action}`, body, { key });
    expect((await move('approve', { note: 'Agreed by the ERP' })).body).toMatchObject({
      status: 'TRADE_APPROVED',
    });
    expect((await move('receive')).body.status).toBe('TRADE_RECEIVED');
    expect((await move('request-credit', {})).body.status).toBe('TRADE_CREDIT_REQUESTED');
    const resolved = await move('resolve');
    expect(resolved).toHaveStatus(200);
    expect(resolved.body).toEqual((await t.get(`/trade-returns/${created.id}`)).body);
    const { items } = (await t.get(`/trade-returns/${created.id}/timeline`)).body;
    const actor = { type: 'API_CLIENT', id: clientId, name: 'Program' };
    expect(items.slice(1)).toMatchObject([
      { type: 'STATUS_CHANGED', actor, note: 'Agreed by the ERP' },
      { type: 'STATUS_CHANGED', actor },
      { type: 'CREDIT_REQUESTED', actor },
      { type: 'RESOLVED', actor },
    ]);
    expect((await deliveriesOf(t)).map(({ event }) => event)).toEqual([
      'trade_return.created',
      'trade_return.status_changed',
      'trade_return.status_changed',
      'trade_return.credit_requested',
      'trade_return.resolved',
    ]);
  });

  it('get a 409 that names the allowed moves, or says that the return changed since it was read', async ({
    t,
  }) => {
    const { apiKey: key } = await mover(t);
    const { id } = await tradeReturnIn(t, 'TRADE_SUBMITTED');
    const { updatedAt } = (await t.get(`/trade-returns/${id}`)).body;
    const seen = `?seen=${encodeURIComponent(updatedAt)}`;
    const early = await t.post(`/trade-returns/${id}/receive`, undefined, { key });
    expect(early).toFailWith(409, 'MOVE_NOT_ALLOWED');
    expect(early.body.message).toMatch(/approve.*reject/);
    expect(await t.post(`/trade-returns/${id}/approve${seen}`, undefined, { key })).toHaveStatus(200);
    expect(await t.post(`/trade-returns/${id}/reject${seen}`, undefined, { key })).toFailWith(
      409,
      'EDIT_CONFLICT',
    );
    expect(await t.post(`/trade-returns/${id}/reject?seen=now`, undefined, { key })).toFailWith(400);
    expect((await t.get(`/trade-returns/${id}`)).body.status).toBe('TRADE_APPROVED');
  });
});
