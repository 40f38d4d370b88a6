// engines: sqlite, postgres

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { RMA_EVENT_NAMES, type RmaEventName } from '../../contract/event-feed.ts';
import { createClient } from '../../src/api-clients/actions.ts';
import { sweep } from '../../src/app/janitor.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { newId } from '../../src/lib/ids.ts';
import { ERASURE_RULES, PERSONAL_COLUMNS } from '../../src/personal-data/erasure-rules.ts';
import { addErasures, finishErasures } from '../../src/personal-data/erasures.ts';
import { changeShop } from '../../src/shops/actions.ts';
import type { Person } from '../support/admin.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { tablesOf } from '../support/dump.ts';
import { itWith } from '../support/fixtures.ts';
import { ENGINE, type Harness, harness, sharedHarness } from '../support/harness.ts';
import { atOnce, auditLog } from '../support/responses.ts';

const it = itWith(sharedHarness());
/** For tests that look at whole tables. */
const itAlone = itWith(harness);

const EMAIL = 'Grace.Okafor@Planted.example';
const PHONE = '+44 20 7946 0018';
const REASON = 'Asked by letter';

/** Marks in every text that is erased, and in every one that is kept. */
const gone = (name: string) => `gone-${name}-mark`;
const kept = (name: string) => `kept-${name}-mark`;

const plantedRepair = () =>
  repairBody({
    customerEmail: EMAIL,
    customerName: gone('name'),
    customerPhone: PHONE,
    faultDescription: gone('fault'),
    notes: gone('notes'),
    orderNumber: kept('order'),
    storeId: kept('store'),
    externalRef: kept('ref'),
    externalSource: kept('source'),
    replacementSku: kept('replacement'),
    faultyItem: {
      sku: kept('sku'),
      productName: kept('product'),
      quantity: 1,
      price: 49.95,
      serialNumber: kept('serial'),
      variantTitle: kept('variant'),
    },
    tracking: { trackingNumber: gone('first-tracking'), carrierName: kept('carrier') },
  });

const plantedTrade = () =>
  tradeBody({
    customerEmail: EMAIL.toLowerCase(),
    customerName: gone('trade-name'),
    customerPhone: '0044 (20) 7946-0018',
    reason: gone('reason'),
    customerNotes: gone('customer-notes'),
    faultDescription: gone('trade-fault'),
    additionalComment: gone('comment'),
    shippingAddress: {
      street: gone('street'),
      suburb: gone('suburb'),
      state: gone('state'),
      postcode: gone('postcode'),
    },
    tradeOrderNumber: kept('trade-order'),
    companyName: kept('company'),
    companyId: kept('company-id'),
    orderDate: kept('order-date'),
    items: [{ sku: kept('item'), productName: kept('item-name'), quantity: 3, price: 12.3456 }],
  });

interface Planted {
  repair: string;
  trade: string;
}

/** One return of each kind, with everything that staff and programs can write into it, ended. */
const plant = async (t: Harness, admin: Person): Promise<Planted> => {
  const key = { headers: { 'idempotency-key': 'planted' } };
  const repair = (await t.post('/offline-repairs', plantedRepair(), key)).body.id;
  const trade = (await t.post('/trade-returns', plantedTrade())).body.id;
  const call = async (path: string, body: object) => {
    const response = await admin.post(path, body);
    expect(response, path).toHaveStatus(200);
  };
  const onRepair = (action: string, body: object) => call(`/offline-repairs/${repair}/${action}`, body);
  const onTrade = (action: string, body: object) => call(`/trade-returns/${trade}/${action}`, body);
  await onRepair('tracking', { trackingNumber: gone('tracking'), carrierName: kept('carrier') });
  await onRepair('notes', { note: gone('note') });
  await onRepair('correct', {
    customerName: `Grace ${gone('corrected-name')}`,
    serialNumber: kept('new-serial'),
  });
  await onRepair('correct', {
    customerEmail: 'gone-new-mark@planted.example',
    customerPhone: '+44 1 5550100',
  });
  const waiting = (name: string) => ({ what: 'CUSTOMER', note: gone(name) });
  await admin.put(`/offline-repairs/${repair}/waiting-for`, waiting('waiting-note'));
  await admin.put(`/trade-returns/${trade}/waiting-for`, waiting('trade-waiting'));
  await onRepair('begin-repair', { repairNotes: gone('repair-notes'), assignedToId: kept('technician') });
  await onRepair('resolve', { offlineDisposition: 'WRITE_OFF', notes: gone('resolve-notes') });
  await onRepair('close', {});
  await onTrade('approve', { note: gone('approve-note') });
  await onTrade('receive', { lines: [{ line: 1, received: 2, note: gone('line-note') }], complete: true });
  await onTrade('correct', { companyName: kept('new-company'), customerName: gone('trade-corrected') });
  await onTrade('request-credit', { creditAmount: 1.23456789, note: gone('credit-note') });
  await onTrade('resolve', { note: gone('trade-resolve') });
  return { repair, trade };
};

const VIEWS = [
  { name: 'Waiting', search: { q: EMAIL.toUpperCase() } },
  { name: `Grace ${gone('corrected-name')}`, search: { q: '020 7946 0018' } },
  {
    name: 'Kettles',
    search: { q: 'kettle', store: kept('store'), origin: 'STAFF', createdFrom: '2026-11-01T00:00:00.000Z' },
  },
];

const wholeDump = async (t: Harness): Promise<string> => JSON.stringify(await tablesOf(t.ctx.db));
const marksIn = (text: string): string[] =>
  [...new Set(text.match(/(?:gone|kept)-[a-z-]+-mark/g) ?? [])].sort();
/** The bytes of SQLite's file and its write-ahead log; PostgreSQL's are not ours. */
const filesOf = ({ env }: Harness): string[] =>
  env['DATA_DIR'] && ENGINE === 'sqlite'
    ? ['', '-wal'].map((suffix) =>
        readFileSync(join(env['DATA_DIR'] ?? '', `handback.sqlite${suffix}`), 'latin1'),
      )
    : [];
const PERSON = /planted\.example|7946.?0018|5550100/i;
const erase = (admin: Person, more: object) => admin.post('/customers/erase', { reason: REASON, ...more });

describe('erasures of a restored backup', () => {
  itAlone('are completed for every shop, even after many that fail', async ({ t }) => {
    const { db } = t.ctx;
    const other = await t.addShop();
    const make = async (key: string) =>
      (await t.post('/offline-repairs', repairBody(), { key })).body.id as string;
    const failing: string[] = [];
    for (let i = 0; i < 12; i++) failing.push(await make(t.client.apiKey));
    // This time is not a valid date, so these rows cannot be erased.
    await db.updateTable('offline_repairs').set({ updated_at: 9e15 }).where('id', 'in', failing).execute();
    const good = await make(other.client.apiKey);
    const listed = (shop_id: string) => (subject_id: string) =>
      ({ subject_id, shop_id, kind: 'offline_repairs', at: 1 }) as const;
    await addErasures(db, [...failing.map(listed(t.shop.id)), listed(other.shop.id)(good)]);
    await sweep(t.ctx);
    const row = db.selectFrom('offline_repairs').select('customer_name').where('id', '=', good);
    expect(await row.executeTakeFirst()).toEqual({ customer_name: '[erased]' });
    const unfinished = await db
      .selectFrom('erasures')
      .select(['subject_id', 'failures'])
      .where('progress', 'is not', null)
      .orderBy('subject_id')
      .execute();
    expect(unfinished.map(({ subject_id }) => subject_id)).toEqual(failing.toSorted());
    expect(Math.min(...unfinished.map(({ failures }) => failures))).toBeGreaterThanOrEqual(1);
    const counted = unfinished.reduce((sum, { failures }) => sum + failures, 0);
    expect(await t.ctx.metrics.registry.metrics()).toContain(`handback_erasure_failures_total ${counted}\n`);
  });

  itAlone('are not held up by the deletion of another shop', async ({ t }) => {
    const { db } = t.ctx;
    const other = await t.addShop();
    // More than are deleted in one step.
    for (let i = 0; i < 45; i++) await t.post('/offline-repairs', repairBody());
    const good = (await t.post('/offline-repairs', repairBody(), { key: other.client.apiKey })).body
      .id as string;
    await addErasures(db, [
      { subject_id: t.shop.id, shop_id: t.shop.id, kind: 'shops', at: 1 },
      { subject_id: good, shop_id: other.shop.id, kind: 'offline_repairs', at: 1 },
    ]);
    expect(await finishErasures(t.ctx)).toBe(true);
    const names = db.selectFrom('offline_repairs').select('customer_name');
    expect(await names.where('id', '=', good).executeTakeFirst()).toEqual({ customer_name: '[erased]' });
    expect((await names.where('shop_id', '=', t.shop.id).execute()).length).toBeGreaterThan(0);
    while (await finishErasures(t.ctx));
    expect(await names.where('shop_id', '=', t.shop.id).execute()).toEqual([]);
    expect(await db.selectFrom('shops').select('id').where('id', '=', t.shop.id).execute()).toEqual([]);
  });
});

describe('the list of columns with personal data', () => {
  it('names every text column of every table', async ({ t }) => {
    const tables = await t.ctx.db.introspection.getTables();
    const texts = tables
      .filter(({ name }) => !name.startsWith('kysely_'))
      .flatMap(({ name, columns }) =>
        columns.filter(({ dataType }) => /^text$/i.test(dataType)).map((column) => `${name}.${column.name}`),
      );
    const places = Object.entries(PERSONAL_COLUMNS).flatMap(([table, columns]) =>
      Object.keys(columns).map((column) => `${table}.${column}`),
    );
    // Columns with a few fixed values contain no personal data.
    const FIXED =
      /\.(status|plan|kind|type|role|origin|event|action|actor_type|subject_type|offline_disposition|waiting_for|times)$/;
    expect(texts.filter((text) => !places.includes(text) && !FIXED.test(text))).toEqual([]);
    expect(
      Object.values(PERSONAL_COLUMNS)
        .flatMap(Object.values)
        .every((rule) => rule in ERASURE_RULES),
    ).toBe(true);
  });
});

describe('a planted customer', () => {
  it('is found by email and phone in any spelling, also by corrected values', async ({ t, admin }) => {
    const { repair, trade } = await plant(t, admin);
    await t.post('/offline-repairs', repairBody());
    const find = async (person: object): Promise<string[]> => {
      const { body } = await admin.post('/customers/find', person);
      expect(body.total).toBe(body.returns.length);
      return body.returns.map(({ id }: { id: string }) => id);
    };
    for (const email of [EMAIL, EMAIL.toUpperCase(), EMAIL.toLowerCase()])
      expect(await find({ email })).toEqual([trade, repair]);
    for (const phone of ['+442079460018', '0044 20 7946 0018', '44 (20) 7946.0018'])
      expect(await find({ phone })).toEqual([trade, repair]);
    expect(await find({ email: EMAIL, phone: null })).toEqual([trade, repair]);
    expect(await find({ email: 'GONE-NEW-MARK@planted.example' })).toEqual([repair]);
    expect(await find({ phone: '+44 1 555 0100' })).toEqual([repair]);
    expect(await find({ phone: '+44 (0)20 7946 0018' })).toEqual([trade, repair]);
    // Another script, in both forms of Unicode and both cases.
    const jürgen = 'jürgen@müller.example';
    const other = (await t.post('/offline-repairs', repairBody({ customerEmail: jürgen.normalize('NFD') })))
      .body.id;
    for (const email of [jürgen.normalize('NFC'), jürgen.toUpperCase()])
      expect(await find({ email })).toEqual([other]);
    // No country is guessed, and a part of a number does not match.
    expect(await find({ phone: '020 7946 0018' })).toEqual([]);
    expect(await find({ email: 'okafor@planted.example' })).toEqual([]);
    for (const bad of [
      {},
      { email: EMAIL, phone: PHONE },
      { phone: '12 34' },
      { email: 'x' },
      { name: 'Grace' },
    ])
      expect(await admin.post('/customers/find', bad)).toHaveStatus(400);
  });

  itAlone('is exported whole', async ({ t, admin }) => {
    await plant(t, admin);
    const response = await admin.post('/customers/export', { email: EMAIL });
    expect(response).toHaveStatus(200);
    const text = JSON.stringify(response.body);
    const planted = marksIn(await wholeDump(t));
    expect(marksIn(text)).toEqual(planted);
    expect(response.body.returns.map(({ kind }: { kind: string }) => kind)).toEqual([
      'TRADE_RETURN',
      'OFFLINE_REPAIR',
    ]);
    expect(text).toContain('1.23456789');
    const [entry] = await auditLog(admin);
    expect(entry).toMatchObject({ action: 'CUSTOMER_EXPORTED', data: { count: 2 } });
  });

  itAlone('is erased from everything that must lose them, and the rest stays', async ({ t, admin }) => {
    const { repair, trade } = await plant(t, admin);
    const other = (await t.post('/offline-repairs', repairBody())).body;
    for (const view of VIEWS) await admin.post('/views', { kind: 'OFFLINE_REPAIR', shared: true, ...view });
    const feedBefore = (await t.get('/events?types=all&limit=100')).body;
    const before = await wholeDump(t);
    const keptBefore = marksIn(before).filter((mark) => mark.startsWith('kept'));
    expect(marksIn(before).length).toBeGreaterThan(40);
    const rowsBefore = await Promise.all(
      [repair, trade].map((id, i) => admin.get(`/${['offline-repairs', 'trade-returns'][i]}/${id}`)),
    );
    const totals = () => t.ctx.db.selectFrom('rma_totals').selectAll().execute();
    const totalsBefore = await totals();

    const dry = await erase(admin, { email: EMAIL, dryRun: true });
    expect(dry.body).toMatchObject({ dryRun: true, matched: 2, erased: 2, refused: [], remaining: 0 });
    expect(marksIn(await wholeDump(t))).toEqual(marksIn(before));

    const response = await erase(admin, { email: EMAIL });
    expect(response).toHaveStatus(200);
    expect(response.body).toMatchObject({ matched: 2, erased: 2, refused: [], remaining: 0, views: 2 });
    expect(response.body.returns.map(({ id }: { id: string }) => id)).toEqual([trade, repair]);

    const after = await wholeDump(t);
    expect(marksIn(after)).toEqual(keptBefore);
    expect(after).not.toMatch(PERSON);
    for (const bytes of filesOf(t)) {
      expect(marksIn(bytes).filter((mark) => mark.startsWith('gone'))).toEqual([]);
      expect(PERSON.test(bytes)).toBe(false);
    }
    const [shown] = await Promise.all([admin.get(`/offline-repairs/${repair}`)]);
    expect(shown.body).toMatchObject({
      customerEmail: 'erased@erased.invalid',
      customerName: '[erased]',
      customerPhone: null,
      faultDescription: '[erased]',
      notes: null,
      trackingNumber: null,
      carrierName: kept('carrier'),
      status: 'OFFLINE_CLOSED',
      offlineDisposition: 'WRITE_OFF',
      erasedAt: expect.any(String),
    });
    const [, tradeBefore] = rowsBefore;
    const tradeNow = (await admin.get(`/trade-returns/${trade}`)).body;
    for (const field of [
      'rmaNumber',
      'status',
      'items',
      'declaredAmount',
      'creditAmount',
      'createdAt',
      'statusSince',
    ])
      expect([field, tradeNow[field]]).toEqual([field, tradeBefore?.body[field]]);
    expect((await t.get(`/offline-repairs/${other.id}`)).body).toEqual(other);
    expect(await totals()).toEqual(totalsBefore);
    expect((await admin.get('/search?q=planted')).body.items ?? []).toEqual([]);

    // The feed: the same positions and ids, and one event of each return behind them.
    const feed = (await t.get('/events?types=all&limit=100')).body;
    const ids = (page: { items: { id: string }[] }) => page.items.map(({ id }) => id);
    expect(ids(feed).slice(0, feedBefore.items.length)).toEqual(ids(feedBefore));
    const further = (await t.get(`/events?types=all&after=${feedBefore.cursor}`)).body.items;
    expect(
      further.map(({ event, data }: { event: string; data: { id: string } }) => [event, data.id]),
    ).toEqual([
      ['offline_repair.erased', repair],
      ['trade_return.erased', trade],
    ]);
    expect(further[1].data).toEqual({
      id: trade,
      rmaNumber: tradeNow.rmaNumber,
      externalRef: null,
      externalSource: null,
      status: 'TRADE_RESOLVED',
      erasedAt: tradeNow.erasedAt,
    });
    expect(feed.items.some(({ event }: { event: string }) => !RMA_EVENT_NAMES.includes(event as never))).toBe(
      false,
    );

    expect((await admin.get(`/offline-repairs/${repair}/related`)).body.sameCustomer.total).toBe(0);

    // A retry of the creation gets the erased body; nothing can be changed any more.
    const replay = await t.post('/offline-repairs', plantedRepair(), {
      headers: { 'idempotency-key': 'planted' },
    });
    expect(replay).toHaveStatus(201);
    expect(replay.body).toMatchObject({
      id: repair,
      customerName: '[erased]',
      erasedAt: shown.body.erasedAt,
    });
    expect(await admin.post(`/offline-repairs/${repair}/notes`, { note: 'x' })).toFailWith(409, 'ERASED');
    expect(await t.post(`/offline-repairs/${repair}/close`, {})).toFailWith(409, 'ERASED');
    expect(await admin.post(`/trade-returns/${trade}/correct`, { customerName: 'x' })).toFailWith(
      409,
      'ERASED',
    );

    const views = (await admin.get('/views')).body.items;
    expect(views.map(({ name, search }: { name: string; search: object }) => ({ name, search }))).toEqual([
      { name: 'Waiting', search: { q: '[erased]' } },
      { name: '[erased]', search: { q: '[erased]' } },
      VIEWS[2],
    ]);
    const timeline = (await admin.get(`/offline-repairs/${repair}/timeline`)).body.items;
    expect(timeline.at(-1)).toMatchObject({ type: 'ERASED', actor: { type: 'USER' }, note: null, data: {} });
    const corrections = timeline.filter(({ type }: { type: string }) => type === 'CORRECTED');
    expect(corrections[0].data).toEqual({
      customerName: { from: '[erased]', to: '[erased]' },
      serialNumber: { from: kept('serial'), to: kept('new-serial') },
    });
    const [entry] = await auditLog(admin);
    expect(entry).toMatchObject({
      action: 'CUSTOMER_ERASED',
      data: { reason: REASON, returns: 2, views: 2 },
    });
    expect((await erase(admin, { email: EMAIL })).body).toMatchObject({ matched: 0, erased: 0 });
  });
});

describe('erasing', () => {
  it('names and refuses open returns, erases the closed ones, and erases all of them on request', async ({
    t,
    admin,
  }) => {
    const open = (await t.post('/offline-repairs', repairBody({ customerEmail: EMAIL }))).body;
    const refused = [{ id: open.id, rmaNumber: open.rmaNumber, reason: 'OPEN' }];
    const none = await erase(admin, { email: EMAIL });
    expect(none).toFailWith(409, 'ERASE_REFUSED');
    expect(none.body.refused).toEqual(refused);
    expect((await erase(admin, { email: EMAIL, dryRun: true })).body).toMatchObject({ erased: 0, refused });

    const ended = (await t.post('/offline-repairs', repairBody({ customerEmail: EMAIL }))).body.id;
    await t.post(`/offline-repairs/${ended}/resolve`, { offlineDisposition: 'WRITE_OFF' });
    expect((await erase(admin, { email: EMAIL })).body).toMatchObject({ matched: 2, erased: 1, refused });
    const counts = async () => [
      (await admin.get('/offline-repairs')).body.total,
      (await admin.get('/offline-repairs?open=false')).body.total,
      (await admin.get('/offline-repairs?open=false')).body.items.length,
      (await admin.get(`/offline-repairs?status=${open.status}`)).body.total,
      (await admin.get('/offline-repairs?open=true')).body.total,
      (await admin.get('/offline-repairs?open=true&sort=updatedAt')).body.items.length,
      (await admin.get('/overview')).body.offlineRepairs.open,
    ];
    expect(await counts()).toEqual([2, 0, 0, 1, 1, 1, 1]);
    expect((await erase(admin, { email: EMAIL, includeOpen: true })).body).toMatchObject({
      matched: 1,
      erased: 1,
    });
    expect((await t.get(`/offline-repairs/${open.id}`)).body).toMatchObject({
      erasedAt: expect.any(String),
      status: open.status,
    });
    // An erased return is no longer open; it still counts under its status.
    expect(await counts()).toEqual([2, 0, 0, 1, 0, 0, 0]);
  });

  itAlone('waits for a webhook about the return, or drops it on request', async ({ t, admin }) => {
    await createClient(t.ctx, OPERATOR, {
      shopId: t.shop.id,
      name: 'ERP',
      webhookUrl: 'https://erp.example/hook',
    });
    const { id } = (await t.post('/trade-returns', tradeBody({ customerEmail: EMAIL }))).body;
    await admin.post(`/trade-returns/${id}/reject`, {});
    const held = await erase(admin, { email: EMAIL });
    expect(held).toFailWith(409, 'ERASE_REFUSED');
    expect(held.body.refused).toMatchObject([{ id, reason: 'DELIVERY_WAITING' }]);
    expect((await erase(admin, { email: EMAIL, includeOpen: true })).body.erased).toBe(1);
    const deliveries = await t.ctx.db.selectFrom('webhook_deliveries').select(['status', 'reason']).execute();
    expect(deliveries).toEqual([
      { status: 'DROPPED', reason: 'erased' },
      { status: 'DROPPED', reason: 'erased' },
    ]);
  });

  itAlone('is sent to the client that chose it', async ({ t, admin }) => {
    const events: RmaEventName[] = ['offline_repair.erased'];
    const client = await createClient(t.ctx, OPERATOR, {
      shopId: t.shop.id,
      name: 'Till',
      webhookUrl: 'https://till.example/hook',
      events,
    });
    const { id } = (
      await t.post('/offline-repairs', repairBody({ customerEmail: EMAIL }), { key: client.apiKey })
    ).body;
    await t.post(`/offline-repairs/${id}/close`, {});
    expect((await erase(admin, { email: EMAIL })).body.erased).toBe(1);
    const sent = await t.ctx.db
      .selectFrom('webhook_deliveries')
      .select(['event', 'receiver_id', 'status'])
      .execute();
    expect(sent).toEqual([{ event: 'offline_repair.erased', receiver_id: client.id, status: 'PENDING' }]);
  });

  it('does not affect other shops, and requires a proof of identity', async ({ t, admin, stranger }) => {
    const { id } = (await t.post('/offline-repairs', repairBody({ customerEmail: EMAIL }))).body;
    await t.post(`/offline-repairs/${id}/close`, {});
    expect((await stranger.post('/customers/find', { email: EMAIL })).body).toEqual({
      total: 0,
      returns: [],
    });
    expect((await erase(stranger, { email: EMAIL })).body).toMatchObject({ matched: 0, erased: 0 });
    expect((await t.get(`/offline-repairs/${id}`)).body.customerEmail).toBe(EMAIL);
    await t.ctx.db.updateTable('sessions').set({ proved_at: 0 }).execute();
    expect(await erase(admin, { email: EMAIL })).toFailWith(403, 'PROOF_REQUIRED');
    expect(await admin.post('/customers/export', { email: EMAIL })).toFailWith(403, 'PROOF_REQUIRED');
  });

  itAlone('continues past a damaged row', async ({ t, admin }) => {
    const { repair } = await plant(t, admin);
    const { db } = t.ctx;
    await db
      .updateTable('offline_repairs')
      .set({ faulty_item: '{"broken' })
      .where('id', '=', repair)
      .execute();
    await db.updateTable('saved_views').set({ search: 'gone-' }).execute();
    expect((await erase(admin, { email: EMAIL })).body.erased).toBe(2);
    expect(await wholeDump(t)).not.toMatch(PERSON);
  });
});

describe('by API', () => {
  const eraser = async (t: Harness, shopId = t.shop.id) => {
    const { apiKey } = await createClient(t.ctx, OPERATOR, {
      shopId,
      name: 'Shop front',
      webhookUrl: null,
      rights: ['erase'],
    });
    return (body: object) => t.post('/erasures', body, { key: apiKey });
  };

  it('erases by email, also while the shop is read-only, and does not name what staff created', async ({
    t,
    admin,
  }) => {
    const post = await eraser(t);
    const { id } = (await t.post('/offline-repairs', repairBody({ customerEmail: EMAIL }))).body;
    await t.post(`/offline-repairs/${id}/close`, {});
    const own = (await admin.post('/offline-repairs', repairBody({ customerEmail: EMAIL }))).body.id;
    const refused = await post({ customerEmail: EMAIL.toLowerCase(), dryRun: true });
    expect((await post({ customerEmail: 'not.here@example.com', dryRun: null })).body.dryRun).toBe(false);
    expect(refused.body).toMatchObject({ matched: 2, erased: 1, refused: [], remaining: 0 });
    await admin.post(`/offline-repairs/${own}/close`, {});
    await changeShop(t.ctx, OPERATOR, t.shop.id, { subscription: 'inactive' });
    const response = await post({ customerEmail: EMAIL });
    expect(response).toHaveStatus(200);
    expect(response.body.erased).toBe(2);
    expect(response.body.returns.map((each: { id: string }) => each.id)).toEqual([id]);
    expect((await admin.get(`/offline-repairs/${own}`)).body.customerName).toBe('[erased]');
    expect(await post({ customerEmail: EMAIL, includeOpen: true })).toHaveStatus(400);
  });

  it('keeps saved views that only share words with a name', async ({ t, admin }) => {
    const email = 'wiper@planted.example';
    const names = ['overdue my repairs waiting for parts today kettle', 'Paris', 'Paris Smith'];
    const phones = [PHONE, '10042', '20261'];
    for (const [i, customerName] of names.entries())
      await t.post(
        '/offline-repairs',
        repairBody({ customerEmail: email, customerName, customerPhone: phones[i] }),
      );
    const kept = [
      { name: 'Overdue', search: { q: 'kettle' } },
      { name: 'My repairs today', search: { q: 'waiting for parts' } },
      { name: 'Paris', search: { q: 'paris', store: 'Paris' } },
      { name: 'Order 7946', search: { q: '7946' } },
      { name: 'SO-10042', search: { q: '10042' } },
      { name: '2026-11-17', search: { q: 'X2079460018' } },
      { name: 'Longer numbers', search: { q: '1 020 7946 00181' } },
      { name: `the${email}`, search: { q: `${email}.au` } },
    ];
    const cleaned = [
      { name: 'Smith Paris', search: { q: `mail ${email.toUpperCase()}.` } },
      { name: 'Phone', search: { q: 'ring +44 (0)20 7946 0018 today' } },
      { name: 'Without the plus', search: { q: '442079460018, kettle' } },
      { name: 'In this country', search: { q: '020/7946-0018' } },
    ];
    for (const view of [...kept, ...cleaned])
      await admin.post('/views', { kind: 'OFFLINE_REPAIR', shared: true, ...view });
    const { body } = await erase(admin, { email, includeOpen: true });
    expect(body).toMatchObject({ erased: 3, views: 4 });
    const views = (await admin.get('/views')).body.items;
    expect(views.map(({ name, search }: (typeof kept)[number]) => ({ name, search }))).toEqual([
      ...kept,
      { name: '[erased]', search: { q: '[erased]' } },
      ...cleaned.slice(1).map(({ name }) => ({ name, search: { q: '[erased]' } })),
    ]);
  });

  itAlone('allows twenty calls of a shop a minute, including dry runs', async ({ t }) => {
    const { client, shop } = await t.addShop();
    await t.ctx.db
      .updateTable('api_clients')
      .set({ rights: 'write,erase' })
      .where('shop_id', '=', shop.id)
      .execute();
    const call = (i: number) =>
      t.post(
        '/erasures',
        { customerEmail: `nobody-${i}@example.com`, dryRun: true },
        { key: client.apiKey, headers: { 'x-forwarded-for': `198.51.100.${i}` } },
      );
    for (let i = 0; i < 20; i++) expect(await call(i)).toHaveStatus(200);
    const refused = await call(20);
    expect(refused).toFailWith(429, 'RATE_LIMITED');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  itAlone('allows one call of a shop at a time', async ({ t }) => {
    const [post, other] = [await eraser(t), await eraser(t, (await t.addShop()).shop.id)];
    // Each takes at least 20 ms.
    await atOnce(30, async () => {
      const { id } = (await t.post('/offline-repairs', repairBody({ customerEmail: EMAIL }))).body;
      await t.post(`/offline-repairs/${id}/close`, {});
    });
    const first = post({ customerEmail: EMAIL });
    await expect.poll(() => t.ctx.db.selectFrom('erasures').selectAll().execute()).not.toEqual([]);
    const dryRun = { customerEmail: EMAIL, dryRun: true };
    const meanwhile = await post(dryRun);
    expect(meanwhile).toFailWith(429, 'RATE_LIMITED');
    expect(meanwhile.headers.get('retry-after')).toBe('1');
    expect(await other(dryRun)).toHaveStatus(200);
    expect((await first).body.erased).toBe(30);
    expect((await post(dryRun)).body.matched).toBe(0);
    // A refused request ends it, too.
    await t.post('/offline-repairs', repairBody({ customerEmail: EMAIL }));
    for (const _ of [1, 2]) expect(await post({ customerEmail: EMAIL })).toFailWith(409, 'ERASE_REFUSED');
  });
});

describe('scheduled erasure', () => {
  itAlone(
    'erases returns that were closed long enough ago, of the kinds and shops that chose it',
    async ({ t, admin }) => {
      const made = async (path: string, body: object, end: [string, object]) => {
        const { id } = (await t.post(path, body)).body;
        await admin.post(`${path}/${id}/${end[0]}`, end[1]);
        return id as string;
      };
      const repair = await made('/offline-repairs', repairBody(), [
        'resolve',
        { offlineDisposition: 'WRITE_OFF' },
      ]);
      const trade = await made('/trade-returns', tradeBody(), ['reject', {}]);
      const fresh = await made('/offline-repairs', repairBody(), ['close', {}]);
      const open = (await t.post('/offline-repairs', repairBody())).body.id as string;
      const monthsAgo = t.ctx.clock.now() - 400 * 24 * 60 * 60_000;
      for (const table of ['offline_repairs', 'trade_returns'] as const)
        await t.ctx.db
          .updateTable(table as 'offline_repairs')
          .set({ status_since: monthsAgo })
          .where('id', 'in', [repair, trade, open])
          .execute();
      expect((await admin.get('/forgetting')).body).toEqual({
        offlineRepairMonths: null,
        tradeReturnMonths: null,
      });
      await sweep(t.ctx);
      const rules = { offlineRepairMonths: 13, tradeReturnMonths: null };
      expect((await admin.post('/forgetting/count', rules)).body).toEqual({
        offlineRepairs: 1,
        tradeReturns: 0,
      });
      expect(
        (await admin.post('/forgetting/count', { ...rules, offlineRepairMonths: 14 })).body.offlineRepairs,
      ).toBe(0);
      for (const months of [0, 121, 1.5, '12'])
        expect(await admin.put('/forgetting', { ...rules, offlineRepairMonths: months })).toHaveStatus(400);
      expect((await admin.put('/forgetting', rules)).body).toEqual(rules);
      await sweep(t.ctx);
      const erasedAt = async (path: string, id: string) => (await admin.get(`${path}/${id}`)).body.erasedAt;
      expect(await erasedAt('/offline-repairs', repair)).not.toBe(null);
      for (const id of [fresh, open]) expect(await erasedAt('/offline-repairs', id)).toBe(null);
      expect(await erasedAt('/trade-returns', trade)).toBe(null);
      const timeline = (await admin.get(`/offline-repairs/${repair}/timeline`)).body.items;
      expect(timeline.at(-1)).toMatchObject({
        type: 'ERASED',
        actor: { type: 'SYSTEM', name: 'Automatic erasure' },
      });
      const [entry] = await auditLog(admin);
      expect(entry).toMatchObject({
        action: 'FORGETTING_CHANGED',
        data: { offlineRepairMonths: { from: null, to: 13 } },
      });
    },
  );

  itAlone('continues past returns that cannot be erased', async ({ t, admin }) => {
    const { db } = t.ctx;
    const made = async (status_since: number, more: object) => {
      const { id } = (await t.post('/offline-repairs', repairBody())).body;
      await t.post(`/offline-repairs/${id}/close`, {});
      await db
        .updateTable('offline_repairs')
        .set({ status_since, ...more })
        .where('id', '=', id)
        .execute();
      return id as string;
    };
    // This time is not a valid date.
    const damaged = await made(1, { updated_at: 9e15 });
    const good = await made(3, {});
    // More than one step of the clean-up handles.
    const row = await db
      .selectFrom('offline_repairs')
      .selectAll()
      .where('id', '=', damaged)
      .executeTakeFirstOrThrow();
    const copies = Array.from({ length: 200 }, (_, i) => ({ ...row, id: newId(i), number: 1_000 + i }));
    await db
      .insertInto('offline_repairs')
      .values(copies.map((each) => ({ ...each, status_since: 2 })))
      .execute();
    await admin.put('/forgetting', { offlineRepairMonths: 1, tradeReturnMonths: null });
    await sweep(t.ctx);
    const rows = db
      .selectFrom('offline_repairs')
      .select(['id', 'customer_name'])
      .where('number', '<', 1_000)
      .orderBy('status_since');
    expect(await rows.execute()).toEqual([
      { id: damaged, customer_name: 'Ada Pereira' },
      { id: good, customer_name: '[erased]' },
    ]);
  });
});
