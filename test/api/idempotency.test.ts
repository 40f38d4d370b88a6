// engines: sqlite, postgres

import { hash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { sql } from 'kysely';
import { describe, expect } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { changeShop } from '../../src/shops/actions.ts';
import { newRepair, rowCounts, rulesOf } from '../support/api.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { ONLY_POSTGRES } from '../support/engines.ts';
import { itWith } from '../support/fixtures.ts';
import { type ApiResponse, type Harness, type SendOptions, sharedHarness } from '../support/harness.ts';
import { KINDS } from '../support/kinds.ts';
import { atOnce } from '../support/responses.ts';
import { until } from '../support/until.ts';

const harness = sharedHarness();
const it = itWith(harness);

const HOUR = 60 * 60_000;

const keyed = (key: string, options: SendOptions = {}): SendOptions => ({
  ...options,
  headers: { 'idempotency-key': key },
});
const create = (t: Harness, key: string, body: unknown = repairBody()) =>
  t.post('/offline-repairs', body, keyed(key));
const isReplay = ({ headers }: { headers: Headers }) => headers.get('idempotency-replayed') === 'true';
const NONE = { repairs: 0, returns: 0, timeline: 0, keys: 0, used: 0 };

describe.each(KINDS)('the same Idempotency-Key at $path', ({ path, rows, body, others, walk }) => {
  const send = (t: Harness, key: string, sent: unknown = body(), options: SendOptions = {}) =>
    t.post(path, sent, keyed(key, options));
  const other = body({ externalRef: 'another' });
  const expectReplay = async (t: Harness, { body: made }: ApiResponse, sent: unknown = body()) => {
    const replay = await send(t, 'receipt-1', sent);
    expect(replay).toHaveStatus(201);
    expect([isReplay(replay), replay.body]).toEqual([true, made]);
  };

  it('with the same body returns the first result and creates nothing', async ({ t }) => {
    const first = await send(t, 'receipt-1');
    expect(first).toHaveStatus(201);
    expect(first.headers.has('idempotency-replayed')).toBe(false);
    for (let again = 0; again < 3; again += 1) await expectReplay(t, first);
    expect(await rowCounts(t)).toEqual({ ...NONE, [rows]: 1, timeline: 1, keys: 1, used: 1 });
  });

  it('returns the first result even after a change', async ({ t }) => {
    const first = await send(t, 'receipt-1');
    for (const { take } of walk) await take(t, first.body.id);
    await expectReplay(t, first);
    expect((await t.get(`${path}/${first.body.id}`)).body.status).toBe(walk.at(-1)?.to);
  });

  it('does not count, so it also works when the allowance is used up', async () => {
    const t = await harness({ allowance: 1 });
    const first = await send(t, 'receipt-1');
    expect(await send(t, 'receipt-2')).toFailWith(403, 'LIMIT_EXCEEDED');
    await expectReplay(t, first);
  });

  it('does not bypass the checks before it', async ({ t }) => {
    await send(t, 'receipt-1');
    await changeShop(t.ctx, OPERATOR, t.shop.id, { subscription: 'inactive' });
    expect(await send(t, 'receipt-1')).toFailWith(403, 'READ_ONLY');
    await changeShop(t.ctx, OPERATOR, t.shop.id, { plan: 'STARTER' });
    expect(await send(t, 'receipt-1')).toFailWith(403, 'PLAN_REQUIRED');
    expect(await send(t, 'receipt-1', body(), { key: null })).toFailWith(401);
  });

  it('with another body gets a 422 and creates nothing', async ({ t }) => {
    const first = await send(t, 'receipt-1');
    for (const more of others)
      expect(await send(t, 'receipt-1', body(more))).toFailWith(422, 'IDEMPOTENCY_KEY_REUSED');
    expect((await rowCounts(t))[rows]).toBe(1);
    await expectReplay(t, first);
  });

  it('treats bodies as equal that differ only in order, spacing or escapes', async ({ t }) => {
    const first = await send(t, 'receipt-1');
    /** The fields of every object in it the other way round. */
    const turned = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(turned);
      if (typeof value !== 'object' || value === null) return value;
      const fields = Object.entries(value).map(([name, inner]) => [name, turned(inner)]);
      return Object.fromEntries(fields.reverse());
    };
    const text = JSON.stringify(body());
    const same = [
      JSON.stringify(body(), null, 4),
      JSON.stringify(turned(body())),
      text
        .replace(
          /"customerName":"(.)/,
          (_, letter) => `"customerName":"\\u00${Buffer.from(letter).toString('hex')}`,
        )
        .replace(/"price":([\d.]+)/, (_, price) => `"price":${Math.round(price * 100)}e-2`),
      ` \n${text}\t `,
    ];
    expect(new Set([text, ...same]).size).toBe(5);
    for (const sent of same) await expectReplay(t, first, sent);
    expect((await rowCounts(t))[rows]).toBe(1);
  });

  it('ignores optional fields that are absent or null', async ({ t }) => {
    const first = await send(t, 'receipt-1');
    const sorted = (_name: string, value: unknown) =>
      value?.constructor === Object ? Object.fromEntries(Object.entries(value).sort()) : value;
    const { body_hash } = await t.ctx.db
      .selectFrom('idempotency_keys')
      .select('body_hash')
      .where('owner_id', '=', t.client.id)
      .executeTakeFirstOrThrow();
    // The same in a release whose schema has more of them.
    expect(body_hash).toBe(hash('sha256', `${path.slice(1)}\n${JSON.stringify(body(), sorted)}`));
    await expectReplay(t, first, body({ externalRef: null, customerPhone: null }));
  });

  it('expires after 24 hours, for the same body and for another', async ({ t }) => {
    const first = await send(t, 'receipt-1');
    t.clock.advance(24 * HOUR - 60_000);
    expect(isReplay(await send(t, 'receipt-1'))).toBe(true);
    expect(await send(t, 'receipt-1', other)).toFailWith(422, 'IDEMPOTENCY_KEY_REUSED');
    t.clock.advance(60_000);
    const second = await send(t, 'receipt-1', other);
    expect(second).toHaveStatus(201);
    expect(isReplay(second)).toBe(false);
    expect(second.body.id).not.toBe(first.body.id);
    // From here on the new one is what is remembered, for a day of its own.
    t.clock.advance(24 * HOUR - 60_000);
    expect((await send(t, 'receipt-1', other)).body).toEqual(second.body);
    expect((await rowCounts(t))[rows]).toBe(2);
  });

  it('of another client is a different key, in the same shop and in others', async ({ t, erp }) => {
    const { client } = await t.addShop();
    await send(t, 'receipt-1');
    for (const key of [erp.apiKey, client.apiKey]) {
      const response = await send(t, 'receipt-1', other, { key });
      expect(response).toHaveStatus(201);
      expect([isReplay(response), response.body.externalRef]).toEqual([false, 'another']);
    }
    expect((await rowCounts(t))[rows]).toBe(3);
  });

  it('is only stored after a success', async () => {
    const t = await harness({ allowance: 0 });
    expect(await send(t, 'receipt-1', body({ customerName: '' }))).toFailWith(400);
    expect(await send(t, 'receipt-1', '{')).toFailWith(400);
    expect(await send(t, 'receipt-1')).toFailWith(403, 'LIMIT_EXCEEDED');
    expect((await rowCounts(t)).keys).toBe(0);
    await changeShop(t.ctx, OPERATOR, t.shop.id, { allowance: 1 });
    const response = await send(t, 'receipt-1', other);
    expect(response).toHaveStatus(201);
    expect(isReplay(response)).toBe(false);
  });

  it('has 1 to 255 printable characters, all significant; anything else gets a 400', async ({ t }) => {
    for (const key of ['', 'x'.repeat(256), 'a\tb', 'ä', '\u0080'])
      expect(rulesOf(await send(t, key)), key).toEqual({ 'Idempotency-Key': 'format' });
    expect(await rowCounts(t)).toEqual(NONE);
    for (const key of ['a', 'A', 'a b', 'a  b', '~', '"', 'x'.repeat(254), 'x'.repeat(255)]) {
      const response = await send(t, key);
      expect(response, key).toHaveStatus(201);
      expect(isReplay(response), key).toBe(false);
    }
    expect(isReplay(await send(t, 'x'.repeat(255)))).toBe(true);
  });
});

describe('an Idempotency-Key', () => {
  const trade = (t: Harness, key: string) => t.post('/trade-returns', tradeBody(), keyed(key));

  it('is refused if a proxy sends it twice', async ({ t }) => {
    const headers = { 'x-api-key': t.client.apiKey, 'content-type': 'application/json' };
    const sent = request(`${t.url}${BASE_PATH}/offline-repairs`, {
      method: 'POST',
      headers: { ...headers, 'Idempotency-Key': ['a', 'a'] },
    });
    sent.end(JSON.stringify(repairBody()));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const { errors } = (await json(response)) as { errors: { rule: string }[] };
    expect([response.statusCode, errors]).toMatchObject([
      400,
      [{ field: 'Idempotency-Key', rule: 'repeated' }],
    ]);
    expect(await rowCounts(t)).toMatchObject({ repairs: 0 });
  });

  it('gets a 422 on the other kind of creation, whichever was first', async ({ t }) => {
    const repair = await create(t, 'a');
    const tradeReturn = await trade(t, 'b');
    expect(await trade(t, 'a')).toFailWith(422, 'IDEMPOTENCY_KEY_REUSED');
    expect(await create(t, 'b')).toFailWith(422, 'IDEMPOTENCY_KEY_REUSED');
    expect(await rowCounts(t)).toMatchObject({ repairs: 1, returns: 1, keys: 2, used: 2 });
    expect((await create(t, 'a')).body).toEqual(repair.body);
    expect((await trade(t, 'b')).body).toEqual(tradeReturn.body);
  });

  it('creates one RMA if both kinds use it at the same time; the others get a 422 or a 409', async ({
    t,
  }) => {
    const responses = await atOnce(12, (index) => (index % 2 ? trade(t, 'a') : create(t, 'a')));
    const made = responses.filter((response) => response.status === 201 && !isReplay(response));
    expect(made).toHaveLength(1);
    for (const response of responses) {
      expect(response).toHaveStatus(201, 409, 422);
      if (response.status === 201) expect(response.body).toEqual(made[0]?.body);
    }
    const { repairs, returns, used } = await rowCounts(t);
    expect([repairs + returns, used]).toEqual([1, 1]);
  });

  it('is ignored by the other endpoints', async ({ t }) => {
    const { id } = await newRepair(t);
    for (let again = 0; again < 2; again += 1) {
      const response = await t.post(`/offline-repairs/${id}/close`, {}, keyed('k'));
      expect(response).toHaveStatus(200);
      expect(isReplay(response)).toBe(false);
    }
    expect((await t.get(`/offline-repairs/${id}/timeline`)).body.items).toHaveLength(3);
  });

  // SQLite runs one creation after the other, so there the second always finds the first one's result.
  it('gets a 409 while the first request with it is still running', ONLY_POSTGRES, async ({ t }) => {
    const first = await t.ctx.db.transaction().execute(async (trx) => {
      await sql`select 1 from shop_counters where shop_id = ${t.shop.id} for update`.execute(trx);
      const waiting = create(t, 'receipt-1');
      await until('the first waits for the lock', async () => {
        const { rows } = await sql`select from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`.execute(t.ctx.webhooks);
        return rows.length > 0;
      });
      for (const body of [repairBody(), repairBody({ notes: 'x' })])
        expect(await create(t, 'receipt-1', body)).toFailWith(409, 'IDEMPOTENCY_KEY_IN_USE');
      return { waiting };
    });
    const response = await first.waiting;
    expect(response).toHaveStatus(201);
    expect((await create(t, 'receipt-1')).body).toEqual(response.body);
    expect((await rowCounts(t)).repairs).toBe(1);
  });
});
