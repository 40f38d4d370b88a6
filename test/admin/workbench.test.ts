// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import { sweep } from '../../src/app/janitor.ts';
import { newPerson, type Person } from '../support/admin.ts';
import { newRepair, newTradeReturn, UNKNOWN_ID } from '../support/api.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, harness, sharedHarness } from '../support/harness.ts';
import { REPAIRS, TRADE_RETURNS } from '../support/kinds.ts';
import { startReceiver } from '../support/receiver.ts';
import { atOnce, pluck } from '../support/responses.ts';

const it = itWith(sharedHarness());

const DAY_MS = 86_400_000;
const KINDS = [
  { ...REPAIRS, figures: 'offlineRepairs', move: 'begin-repair', end: 'close' },
  { ...TRADE_RETURNS, figures: 'tradeReturns', move: 'approve', end: 'reject' },
];

const listed = async (person: Person, path: string, query: string): Promise<string[]> => {
  const response = await person.get(`${path}?limit=100&${query}`);
  expect(response, query).toHaveStatus(200);
  expect(response.body.total).toBe(response.body.items.length);
  return response.body.items.map(({ rmaNumber }: { rmaNumber: string }) => rmaNumber.slice(-2));
};

/** Every figure of the overview, and the filters of the list that shows its rows. */
const expectFiguresToBeLists = async (person: Person, path: string, figures: string): Promise<void> => {
  const { body } = await person.get('/overview?timeZone=Pacific/Auckland');
  const { open, mine, unassigned, overdue, byStatus, openByAge } = body[figures];
  const spans = ({ createdFrom, createdTo }: { createdFrom: string | null; createdTo: string | null }) =>
    `${createdFrom ? `&createdFrom=${createdFrom}` : ''}${createdTo ? `&createdTo=${createdTo}` : ''}`;
  const expected: [string, number][] = [
    ['open=true', open],
    ['open=true&assignee=me', mine],
    ['open=true&assignee=none', unassigned],
    ['overdue=true', overdue],
    ...byStatus.map((each: { status: string; count: number }) => [`status=${each.status}`, each.count]),
    ...openByAge.map((each: never) => [`open=true${spans(each)}`, (each as { count: number }).count]),
    ...body.createdPerDay
      .slice(-8)
      .map((each: Record<string, number>) => [spans(each as never).slice(1), each[figures]]),
  ];
  for (const [query, count] of expected)
    expect([query, (await listed(person, path, query)).length]).toEqual([query, count]);
};

describe.each(KINDS)('the work at $path', ({ path, body, figures, move, start, end }) => {
  it('can be assigned, due and filtered, and every count matches a list', async ({ t }) => {
    const ids: string[] = [];
    const create = async () => ids.push((await t.post(path, body())).body.id);
    await create();
    t.clock.advance(5 * DAY_MS);
    const [admin, staff] = [await newPerson(t), await newPerson(t, { role: 'STAFF', name: 'Grace Muller' })];
    const stranger = await newPerson(t, { shop: (await t.addShop()).shop });
    await create();
    await create();
    await create();
    const [old, second, third, ended] = ids as [string, string, string, string];
    await staff.post(`${path}/${ended}/${end}`);

    // An assignment is in the timeline and has no event.
    const before = (await t.get('/events')).body.items.length;
    const assigned = await admin.post(`${path}/${old}/assign`, { assigneeId: staff.id });
    expect(assigned.body.assignee).toEqual({ id: staff.id, name: 'Grace Muller' });
    await staff.post(`${path}/${second}/assign`, { assigneeId: admin.id });
    expect((await staff.get(`${path}/${second}`)).body.assignee.name).toBe(admin.email.split('@')[0]);
    const own = (await staff.get(`${path}/${old}/timeline`)).body.items.at(-1);
    const data = { assigneeId: staff.id, assigneeName: 'Grace Muller' };
    expect(own).toMatchObject({ type: 'ASSIGNED', data });
    const seen = (await t.get(`${path}/${old}`)).body;
    for (const field of ['assignee', 'dueAt']) expect(seen).not.toHaveProperty(field);
    const seenEntry = (await t.get(`${path}/${old}/timeline`)).body.items.at(-1);
    expect([seenEntry.type, seenEntry.data]).toEqual(['ASSIGNED', {}]);
    expect((await t.get('/events')).body.items).toHaveLength(before);
    // The same assignment again changes nothing.
    await admin.post(`${path}/${old}/assign`, { assigneeId: staff.id });
    expect((await staff.get(`${path}/${old}/timeline`)).body.total).toBe(2);

    for (const assigneeId of [stranger.id, UNKNOWN_ID, 'x', ''])
      expect((await staff.post(`${path}/${third}/assign`, { assigneeId })).body.errors).toEqual([
        { field: 'assigneeId', rule: 'person', message: 'assigneeId must be a person of the shop' },
      ]);
    expect(await staff.post(`${path}/${third}/assign`, {})).toHaveStatus(400);

    // Targets apply immediately, from the start of the status.
    expect((await staff.get(`${path}/${old}`)).body.dueAt).toBe(null);
    const set = await admin.put('/target-days', { targets: [{ status: start, days: 3 }] });
    expect(set).toHaveStatus(200);
    expect(set.body).toEqual({ targets: [{ status: start, days: 3 }] });
    const { dueAt, statusSince } = (await staff.get(`${path}/${old}`)).body;
    expect(Date.parse(dueAt) - Date.parse(statusSince)).toBe(3 * DAY_MS);

    expect(await listed(staff, path, 'open=true&order=asc')).toEqual(['01', '02', '03']);
    expect(await listed(staff, path, 'open=false')).toEqual(['04']);
    expect(await listed(staff, path, 'open=true&assignee=me')).toEqual(['01']);
    expect(await listed(staff, path, `assignee=${admin.id}`)).toEqual(['02']);
    expect(await listed(staff, path, `assignee=${admin.id.toUpperCase()}`)).toEqual(['02']);
    expect(await listed(staff, path, `assignee=${stranger.id}`)).toEqual([]);
    expect(await listed(staff, path, 'assignee=none')).toEqual(['04', '03']);
    expect(await listed(staff, path, 'overdue=true')).toEqual(['01']);
    expect(await listed(staff, path, 'open=true&sort=statusSince&order=asc')).toEqual(['01', '02', '03']);
    await expectFiguresToBeLists(staff, path, figures);
    const figuresFor = async (person: Person) => (await person.get('/overview')).body[figures];
    expect(await figuresFor(staff)).toMatchObject({ mine: 1, unassigned: 1, overdue: 1, open: 3 });
    expect(await figuresFor(stranger)).toMatchObject({ unassigned: 0, overdue: 0, open: 0 });

    // A move restarts the time.
    await staff.post(`${path}/${old}/${move}`);
    expect((await staff.get(`${path}/${old}`)).body.dueAt).toBe(null);
    expect(await listed(staff, path, 'overdue=true')).toEqual([]);
    expect((await admin.get('/audit-log')).body.items[0]).toMatchObject({
      action: 'TARGET_DAYS_CHANGED',
      data: { [start]: { from: null, to: 3 } },
    });

    // A person who is removed has nothing assigned any more.
    await admin.delete(`/users/${staff.id}`);
    expect((await admin.get(`${path}/${old}`)).body.assignee).toBe(null);
    expect(await listed(admin, path, 'open=true&assignee=none&order=asc')).toEqual(['01', '03']);
    t.clock.advance(120_000);
    await sweep(t.ctx);
    expect(await t.ctx.db.selectFrom('removed_users').select('user_id').execute()).toEqual([]);
    expect((await admin.post(`${path}/${old}/assign`, { assigneeId: null })).body.assignee).toBe(null);
  });

  it('rejects unknown filters, and filters by dates to the millisecond', async ({ t, staff }) => {
    const wrong = ['open=maybe', 'assignee=all', 'overdue=false', 'createdFrom=yesterday', 'sort=colour'];
    for (const query of wrong) expect(await staff.get(`${path}?${query}`), query).toHaveStatus(400);
    const { createdAt } = (await t.post(path, body())).body;
    const next = new Date(Date.parse(createdAt) + 1).toISOString();
    expect(await listed(staff, path, `createdFrom=${createdAt}&createdTo=${next}`)).toEqual(['01']);
    expect(await listed(staff, path, `createdTo=${createdAt}`)).toEqual([]);
    expect(await listed(staff, path, `createdFrom=${next}`)).toEqual([]);
    expect(await t.get(`${path}?open=true`)).toHaveStatus(400);
    expect(await staff.get('/overview?timeZone=Mars/Olympus')).toHaveStatus(400);
  });
});

const found = async (t: Harness, path: string, queries: string[], expected: string[]): Promise<void> => {
  const staff = await newPerson(t, { role: 'STAFF' });
  for (const query of queries) expect([query, await listed(staff, path, query)]).toEqual([query, expected]);
};

it('repairs are found by reference, tracking, phone, store, danger and disposition', async ({ t, admin }) => {
  await admin.put('/dangerous-goods', { rules: ['BATT-*'] });
  const { id } = await newRepair(t, {
    externalRef: 'POS-88213',
    customerPhone: '+44 (20) 7946-0018',
    storeId: 'Straße-ÖST/7',
    faultyItem: { sku: 'BATT-9', productName: 'Cell', quantity: 1, price: 1 },
  });
  await newRepair(t, { storeId: 'west-1', customerPhone: '0170 55' });
  await t.post(`/offline-repairs/${id}/tracking`, { trackingNumber: 'JD-OLD', carrierName: 'DHL' });
  await t.post(`/offline-repairs/${id}/tracking`, { trackingNumber: 'JD0146000034', carrierName: 'DHL' });
  await t.post(`/offline-repairs/${id}/resolve`, { offlineDisposition: 'WRITE_OFF' });
  const national = ['020 7946-0018', '(020)79460018', '7946 0018'];
  const phones = ['+44 20 7946 0018', '442079460018', '+442079460018', ...national];
  await found(
    t,
    '/offline-repairs',
    [
      ...['pos-88213', 'jd0146', 'BATT-9', ...phones].map((q) => `q=${encodeURIComponent(q)}`),
      ...['straße', 'öst/7', 'Öst'].map((part) => `store=${encodeURIComponent(part)}`),
      `storeId=${encodeURIComponent('Straße-ÖST/7')}`,
      'isDangerous=true',
      'disposition=WRITE_OFF',
      'isDangerous=true&open=true&store=7&sort=status',
    ],
    ['01'],
  );
  await found(t, '/offline-repairs', ['q=jd-old', 'store=nowhere', 'q=999%20999%20999'], []);
  await found(t, '/offline-repairs', ['isDangerous=false', 'store=WEST'], ['02']);
  expect((await admin.get('/stores')).body.items).toEqual([
    { storeId: 'Straße-ÖST/7', open: 1 },
    { storeId: 'west-1', open: 1 },
  ]);
});

it('trade returns are found by reference, phone and part of the company', async ({ t }) => {
  const company = { companyName: 'ÅNGSTRÖM Ltd', companyId: 'C_100%' };
  await newTradeReturn(t, { externalRef: 'ERP-1', ...company, customerPhone: '02/1234.567' });
  await newTradeReturn(t, { customerName: 'Ångström' });
  const words = ['q=erp-1', 'q=02%201234%20567', 'q=21234567'];
  const companies = ['company=ångström', 'company=_100%25', 'company=c_1&open=true'];
  await found(t, '/trade-returns', [...words, ...companies], ['01']);
});

describe('saved views', () => {
  const view = { kind: 'OFFLINE_REPAIR', name: 'Mine, oldest', search: { assignee: 'me', order: 'asc' } };

  it('are private, or belong to the shop and are managed by its Admins', async ({
    t,
    admin,
    staff,
    stranger,
  }) => {
    const colleague = await newPerson(t, { role: 'STAFF' });
    const own = (await staff.post('/views', view)).body;
    expect(own).toEqual({ ...view, id: own.id, shared: false });
    expect(await staff.post('/views', { ...view, shared: true })).toFailWith(403, 'ADMIN_REQUIRED');
    const shared = (await admin.post('/views', { ...view, name: 'Ours', shared: true })).body;
    const names = async (person: Person) => pluck((await person.get('/views')).body.items, 'name');
    expect(await names(staff)).toEqual(['Mine, oldest', 'Ours']);
    expect(await names(colleague)).toEqual(['Ours']);
    expect(await names(stranger)).toEqual([]);

    const change = { name: 'To do', search: { overdue: 'true' } };
    expect((await staff.patch(`/views/${own.id}`, change)).body).toEqual({ ...own, ...change });
    expect(await staff.patch(`/views/${own.id}`, { shared: true })).toFailWith(403, 'ADMIN_REQUIRED');
    expect(await staff.patch(`/views/${shared.id}`, { name: 'x' })).toFailWith(403, 'ADMIN_REQUIRED');
    for (const [person, id] of [
      [colleague, own.id],
      [admin, own.id],
      [admin, UNKNOWN_ID],
      [staff, 'x'],
    ] as const)
      for (const response of [
        await person.patch(`/views/${id}`, { name: 'x' }),
        await person.delete(`/views/${id}`),
      ]) {
        expect(response).toHaveStatus(404);
        expect(response.body.message).toBe('There is no such view.');
      }
    expect((await admin.patch(`/views/${shared.id}`, { shared: false })).body.shared).toBe(false);
    expect(await names(colleague)).toEqual([]);
    expect(await staff.delete(`/views/${own.id}`)).toHaveStatus(204);
    expect(await names(staff)).toEqual([]);
    await staff.post('/views', view);
    await admin.delete(`/users/${staff.id}`);
    expect(await t.ctx.db.selectFrom('saved_views').select('name').execute()).toEqual([{ name: 'Ours' }]);
  });

  it('accept filters of the list only, and are limited to 50', async ({ staff }) => {
    for (const [search, field] of [
      [{ colour: 'red' }, 'search.colour'],
      [{ company: 'x' }, 'search.company'],
      [{ page: '2' }, 'search.page'],
      [{ status: 'TRADE_SUBMITTED' }, 'search.status'],
      [{ open: 'x' }, 'search.open'],
      [JSON.parse('{"__proto__":"x"}'), 'search.__proto__'],
    ] as const) {
      const refused = await staff.post('/views', { ...view, search });
      expect(refused).toHaveStatus(400);
      expect(refused.body.errors).toMatchObject([{ field, rule: 'filter' }]);
    }
    expect(await staff.post('/views', { ...view, name: ' ' })).toHaveStatus(400);
    expect(await staff.post('/views', { ...view, search: { open: true } })).toHaveStatus(400);
    const make = () => staff.post('/views', view);
    const made = [];
    for (const count of [12, 12, 12, 12, 4]) made.push(...(await atOnce(count, make)));
    expect(made).toHaveStatuses({ 201: 50, 409: 2 });
    expect(made.filter(({ body }) => body.code === 'TOO_MANY_VIEWS')).toHaveLength(2);
  });
});

it('the overview counts returns by age and day, of one shop only', async () => {
  const t = await harness({ allowance: 100 });
  const other = await t.addShop();
  await t.post('/offline-repairs', repairBody(), { key: other.client.apiKey });
  const old = (await t.post('/offline-repairs', repairBody())).body;
  t.clock.advance(5 * DAY_MS);
  const closed = (await t.post('/offline-repairs', repairBody())).body;
  await t.post(`/offline-repairs/${closed.id}/close`);
  await t.post('/trade-returns', tradeBody());
  const staff = await newPerson(t, { role: 'STAFF' });
  await staff.post('/offline-repairs', repairBody());

  const response = await staff.get('/overview');
  expect(response).toHaveStatus(200);
  const { openByAge } = response.body.offlineRepairs;
  expect(pluck(openByAge, 'upToDays')).toEqual([1, 3, 7, 30, null]);
  expect(pluck(openByAge, 'count')).toEqual([1, 0, 1, 0, 0]);
  expect(response.body.createdPerDay).toHaveLength(30);
  const day = new Date(t.ctx.clock.now()).toISOString().slice(0, 10);
  expect(response.body.createdPerDay.at(-1)).toMatchObject({ day, offlineRepairs: 2, tradeReturns: 1 });
  expect(response.body.createdPerDay.at(-6)).toMatchObject({ offlineRepairs: 1, tradeReturns: 0 });
  expect(response.body.openLongest).toMatchObject([{ id: old.id }, {}, {}]);
});

it("the overview shows this month's usage against the allowance, from the first of the month", async () => {
  const t = await harness({ allowance: 7 });
  const staff = await newPerson(t, { role: 'STAFF' });
  const month = () => new Date(t.ctx.clock.now()).toISOString().slice(0, 7);
  const unused = { month: month(), used: 0, limit: 7, billing: 'ALLOWANCE' };
  expect((await staff.get('/overview')).body.month).toEqual(unused);
  await t.post('/offline-repairs', repairBody());
  await t.post('/trade-returns', tradeBody());
  expect((await staff.get('/overview')).body.month.used).toBe(2);
  t.clock.advance(32 * DAY_MS);
  const later = await newPerson(t, { role: 'STAFF' });
  expect((await later.get('/overview')).body.month).toMatchObject({ month: month(), used: 0 });
});

it('the overview shows the webhooks of the last day', async ({ sending: t }) => {
  const [good, bad] = [await startReceiver(), await startReceiver(() => 500)];
  const [served, refused] = [await t.addReceiver(good.url), await t.addReceiver(bad.url)];
  await t.create(served);
  await t.create(refused);
  await good.got(1);
  for (const [n, waitMs] of [1_000, 4_000, 16_000].entries()) {
    await t.attempted(n + 1, refused.id);
    t.advance(waitMs);
  }
  await t.drained();
  const staff = await newPerson(t, { role: 'STAFF' });
  expect((await staff.get('/overview')).body).toMatchObject({
    webhooks: { delivered: 1, dropped: 1, waiting: 0 },
    droppedByClient: null,
  });
  const admin = await newPerson(t);
  expect((await admin.get('/overview')).body.droppedByClient).toEqual([
    { clientId: refused.id, name: expect.any(String), dropped: 1 },
  ]);
});
