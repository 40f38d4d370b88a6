import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/caller.ts';
import { changeShop } from '../../src/shops/actions.ts';
import { moveTradeReturn } from '../../src/trade-returns/actions.ts';
import { expectError, newRepair, rowCounts, rulesOf, staffOf } from '../support/api.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { ENGINE, type Harness, type SendOptions, sharedHarness } from '../support/harness.ts';

const harness = sharedHarness();

const HOUR = 60 * 60_000;

const create = (t: Harness, key: string, body: unknown = repairBody(), options: SendOptions = {}) =>
  t.post('/offline-repairs', body, { ...options, headers: { 'idempotency-key': key } });
const isReplay = ({ headers }: { headers: Headers }) => headers.get('idempotency-replayed') === 'true';

describe('the same Idempotency-Key', () => {
  it('with the same body answers with the first result and creates nothing', async () => {
    const t = await harness();
    const first = await create(t, 'receipt-1');
    expect(first.status).toBe(201);
    expect(first.headers.has('idempotency-replayed')).toBe(false);
    const before = await rowCounts(t);
    for (let again = 0; again < 3; again += 1) {
      const replay = await create(t, 'receipt-1');
      expect(replay.status).toBe(201);
      expect(replay.headers.get('idempotency-replayed')).toBe('true');
      expect(replay.body).toEqual(first.body);
    }
    expect(await rowCounts(t)).toEqual(before);
    expect(before).toMatchObject({ repairs: 1, timeline: 1, used: 1 });
  });

  it('answers with the first result even after the repair has moved on', async () => {
    const t = await harness();
    const first = await create(t, 'receipt-1');
    await t.post(`/offline-repairs/${first.body.id}/close`);
    expect((await create(t, 'receipt-1')).body).toEqual(first.body);
    expect((await t.get(`/offline-repairs/${first.body.id}`)).body.status).toBe('OFFLINE_CLOSED');
  });

  it('counts nothing, so it also answers when the allowance is used up', async () => {
    const t = await harness({ allowance: 1 });
    const first = await create(t, 'receipt-1');
    expectError(await create(t, 'receipt-2'), 403, 'LIMIT_EXCEEDED');
    const replay = await create(t, 'receipt-1');
    expect(replay.status).toBe(201);
    expect(replay.body).toEqual(first.body);
  });

  it('does not open the gates before it', async () => {
    const t = await harness();
    await create(t, 'receipt-1');
    await changeShop(t.ctx, OPERATOR, t.shop.id, { subscription: 'inactive' });
    expectError(await create(t, 'receipt-1'), 403, 'READ_ONLY');
    await changeShop(t.ctx, OPERATOR, t.shop.id, { plan: 'STARTER' });
    expectError(await create(t, 'receipt-1'), 403, 'PLAN_REQUIRED');
    expectError(await create(t, 'receipt-1', repairBody(), { key: null }), 401);
  });

  it('with another body is a 422 and creates nothing', async () => {
    const t = await harness();
    const first = await create(t, 'receipt-1');
    const others = [
      { storeId: 'store-8' },
      { notes: 'x' },
      { startStatus: 'COUNTER_SWAPPED' },
      { faultyItem: { ...repairBody().faultyItem, price: 49.96 } },
      { tracking: { trackingNumber: 'JD01', carrierName: 'DHL' } },
    ];
    for (const more of others)
      expectError(await create(t, 'receipt-1', repairBody(more)), 422, 'IDEMPOTENCY_KEY_REUSED');
    expect((await rowCounts(t)).repairs).toBe(1);
    expect((await create(t, 'receipt-1')).body).toEqual(first.body);
  });

  it('takes bodies as the same that differ only in order, spacing or escapes', async () => {
    const t = await harness();
    const first = await create(t, 'receipt-1');
    const turned = Object.fromEntries(Object.entries(repairBody()).reverse());
    const item = Object.fromEntries(Object.entries(repairBody().faultyItem).reverse());
    const same = [
      JSON.stringify(repairBody(), null, 4),
      JSON.stringify(turned),
      JSON.stringify({ ...turned, faultyItem: item }),
      JSON.stringify(repairBody()).replace('Ada', '\\u0041da').replace('49.95', '4995e-2'),
      ` \n${JSON.stringify(repairBody())}\t `,
    ];
    for (const body of same) {
      const replay = await create(t, 'receipt-1', body);
      expect({ body, replay: isReplay(replay), answer: replay.body }).toEqual({
        body,
        replay: true,
        answer: first.body,
      });
    }
    expect((await rowCounts(t)).repairs).toBe(1);
  });

  it('is forgotten after 24 hours, for the same body and for another', async () => {
    const t = await harness();
    const first = await create(t, 'receipt-1');
    t.clock.advance(24 * HOUR - 60_000);
    expect(isReplay(await create(t, 'receipt-1'))).toBe(true);
    expectError(await create(t, 'receipt-1', repairBody({ notes: 'x' })), 422, 'IDEMPOTENCY_KEY_REUSED');
    t.clock.advance(60_000);
    const second = await create(t, 'receipt-1', repairBody({ notes: 'x' }));
    expect([second.status, isReplay(second)]).toEqual([201, false]);
    expect(second.body.id).not.toBe(first.body.id);
    // From here on the new one is what is remembered, for a day of its own.
    t.clock.advance(24 * HOUR - 60_000);
    expect((await create(t, 'receipt-1', repairBody({ notes: 'x' }))).body).toEqual(second.body);
    expect((await rowCounts(t)).repairs).toBe(2);
  });

  it('of another client means something else, in the same shop and in others', async () => {
    const t = await harness();
    const erp = await createClient(t.ctx, OPERATOR, { shopId: t.shop.id, name: 'ERP', webhookUrl: null });
    const other = await t.addShop();
    await create(t, 'receipt-1');
    for (const key of [erp.apiKey, other.client.apiKey]) {
      const answer = await create(t, 'receipt-1', repairBody({ notes: 'mine' }), { key });
      expect([answer.status, isReplay(answer), answer.body.notes]).toEqual([201, false, 'mine']);
    }
    expect((await rowCounts(t)).repairs).toBe(3);
  });

  it('is remembered only after a success', async () => {
    const t = await harness({ allowance: 0 });
    expectError(await create(t, 'receipt-1', repairBody({ storeId: '' })), 400);
    expectError(await create(t, 'receipt-1', '{'), 400);
    expectError(await create(t, 'receipt-1'), 403, 'LIMIT_EXCEEDED');
    expect((await rowCounts(t)).keys).toBe(0);
    await changeShop(t.ctx, OPERATOR, t.shop.id, { allowance: 1 });
    const answer = await create(t, 'receipt-1', repairBody({ notes: 'another body than before' }));
    expect([answer.status, isReplay(answer)]).toEqual([201, false]);
  });
});

describe('the key of a trade return', () => {
  const trade = (t: Harness, key: string, body: unknown = tradeBody()) =>
    t.post('/trade-returns', body, { headers: { 'idempotency-key': key } });

  it('with the same body answers with the first result, even after the return has moved on', async () => {
    const t = await harness({ allowance: 1 });
    const first = await trade(t, 'receipt-1');
    expect([first.status, isReplay(first)]).toEqual([201, false]);
    await moveTradeReturn(t.ctx, staffOf(t), first.body.id, 'approve', null);
    const before = await rowCounts(t);
    const sameContent = JSON.stringify(Object.fromEntries(Object.entries(tradeBody()).reverse()), null, 2);
    for (const body of [tradeBody(), sameContent]) {
      const replay = await trade(t, 'receipt-1', body);
      expect([replay.status, isReplay(replay)]).toEqual([201, true]);
      expect(replay.body).toEqual(first.body);
    }
    expect(await rowCounts(t)).toEqual(before);
    expect(before).toMatchObject({ repairs: 0, returns: 1, keys: 1, used: 1 });
    expectError(await trade(t, 'receipt-2'), 403, 'LIMIT_EXCEEDED');
  });

  it('with another body is a 422 and creates nothing', async () => {
    const t = await harness();
    await trade(t, 'receipt-1');
    const [item] = tradeBody().items;
    const others = [
      { reason: 'Wrong colour' },
      { orderDate: '' },
      { externalRef: 'R' },
      { items: [{ ...item, quantity: 5 }] },
      { items: [item, item] },
      { shippingAddress: { ...tradeBody().shippingAddress, postcode: '3208' } },
    ];
    for (const more of others)
      expectError(await trade(t, 'receipt-1', tradeBody(more)), 422, 'IDEMPOTENCY_KEY_REUSED');
    expect((await rowCounts(t)).returns).toBe(1);
  });

  it('is a 422 on the other kind of creation, whichever came first', async () => {
    const t = await harness();
    const repair = await create(t, 'a');
    const tradeReturn = await trade(t, 'b');
    expectError(await trade(t, 'a'), 422, 'IDEMPOTENCY_KEY_REUSED');
    expectError(await create(t, 'b'), 422, 'IDEMPOTENCY_KEY_REUSED');
    expect(await rowCounts(t)).toMatchObject({ repairs: 1, returns: 1, keys: 2, used: 2 });
    expect((await create(t, 'a')).body).toEqual(repair.body);
    expect((await trade(t, 'b')).body).toEqual(tradeReturn.body);
  });

  it('and of a repair at the same time create exactly one RMA; the others are a 422 or a 409', async () => {
    const t = await harness();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => (index % 2 ? trade(t, 'a') : create(t, 'a'))),
    );
    const made = answers.filter((answer) => answer.status === 201 && !isReplay(answer));
    expect(made).toHaveLength(1);
    for (const answer of answers) {
      expect([201, 409, 422]).toContain(answer.status);
      if (answer.status === 201) expect(answer.body).toEqual(made[0]?.body);
    }
    const { repairs, returns, used } = await rowCounts(t);
    expect([repairs + returns, used]).toEqual([1, 1]);
  });

  it('has 1 to 255 printable characters, else it is a 400', async () => {
    const t = await harness();
    for (const key of ['', 'x'.repeat(256), 'ä'])
      expect(rulesOf(await trade(t, key))).toEqual({ 'Idempotency-Key': 'format' });
    expect((await rowCounts(t)).returns).toBe(0);
  });
});

describe('an Idempotency-Key', () => {
  it('may be left out: then every creation is a new one', async () => {
    const t = await harness();
    const one = await newRepair(t);
    const two = await newRepair(t);
    expect(one.id).not.toBe(two.id);
    expect((await rowCounts(t)).keys).toBe(0);
  });

  it('is told from others by every character and by case', async () => {
    const t = await harness();
    for (const key of ['a', 'A', 'a b', 'a  b', '~', '"', 'x'.repeat(254), 'x'.repeat(255)]) {
      const answer = await create(t, key);
      expect([key, answer.status, isReplay(answer)]).toEqual([key, 201, false]);
    }
    expect(isReplay(await create(t, 'x'.repeat(255)))).toBe(true);
  });

  it('has 1 to 255 printable characters, else it is a 400', async () => {
    const t = await harness();
    for (const key of ['', 'x'.repeat(256), 'a\tb', 'ä', '\u0080'])
      expect({ key, rules: rulesOf(await create(t, key)) }).toEqual({
        key,
        rules: { 'Idempotency-Key': 'format' },
      });
    expect(await rowCounts(t)).toEqual({ repairs: 0, returns: 0, timeline: 0, keys: 0, used: 0 });
  });

  it('means nothing to the other endpoints', async () => {
    const t = await harness();
    const { id } = await newRepair(t);
    const headers = { 'idempotency-key': 'k' };
    for (let again = 0; again < 2; again += 1) {
      const answer = await t.post(`/offline-repairs/${id}/close`, {}, { headers });
      expect([answer.status, isReplay(answer)]).toEqual([200, false]);
    }
    expect((await t.get(`/offline-repairs/${id}/timeline`)).body.items).toHaveLength(3);
  });
});

describe('requests with the same key at the same time', () => {
  it('create exactly one repair; the others get it too, or a 409', async () => {
    const t = await harness();
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(t, 'receipt-1')));
    const made = answers.filter((answer) => answer.status === 201 && !isReplay(answer));
    expect(made).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === 201) expect(answer.body).toEqual(made[0]?.body);
      else expectError(answer, 409, 'IDEMPOTENCY_KEY_IN_USE');
    }
    expect(await rowCounts(t)).toMatchObject({ repairs: 1, timeline: 1, keys: 1, used: 1 });
    expect(isReplay(await create(t, 'receipt-1'))).toBe(true);
  });

  it('but different bodies create exactly one repair; the others are a 422 or a 409', async () => {
    const t = await harness();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        create(t, 'receipt-1', repairBody({ notes: `note ${index}` })),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const { status } of answers) expect([201, 409, 422]).toContain(status);
    expect((await rowCounts(t)).repairs).toBe(1);
  });

  // SQLite runs one creation after the other, so there the second always finds the first one's result.
  if (ENGINE === 'postgres')
    it('are a 409 while the first is still running', async () => {
      const t = await harness();
      const holder = new pg.Client({ connectionString: t.env['DATABASE_URL'] });
      await holder.connect();
      try {
        await holder.query('begin');
        await holder.query('select 1 from shop_counters where shop_id = $1 for update', [t.shop.id]);
        const first = create(t, 'receipt-1');
        let waiting = 0;
        while (waiting === 0) {
          // Within a transaction the view would stay as it was first seen.
          await holder.query('select pg_stat_clear_snapshot()');
          const { rows } = await holder.query(
            `select count(*)::int as waiting from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock'`,
          );
          waiting = rows[0].waiting;
        }
        expectError(await create(t, 'receipt-1'), 409, 'IDEMPOTENCY_KEY_IN_USE');
        expectError(await create(t, 'receipt-1', repairBody({ notes: 'x' })), 409, 'IDEMPOTENCY_KEY_IN_USE');
        await holder.query('rollback');
        const { status, body } = await first;
        expect(status).toBe(201);
        expect((await create(t, 'receipt-1')).body).toEqual(body);
        expect((await rowCounts(t)).repairs).toBe(1);
      } finally {
        await holder.end();
      }
    });
});
