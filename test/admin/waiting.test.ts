// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import { type Person, signInAs } from '../support/admin.ts';
import { UNKNOWN_ID } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { REPAIRS, TRADE_RETURNS } from '../support/kinds.ts';
import { atOnce } from '../support/responses.ts';

const it = itWith(sharedHarness());

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const KINDS = [
  { ...REPAIRS, table: 'offline_repairs', figures: 'offlineRepairs', move: 'begin-repair', end: 'close' },
  { ...TRADE_RETURNS, table: 'trade_returns', figures: 'tradeReturns', move: 'approve', end: 'reject' },
] as const;

const NOTE = 'Ring Ada: heating element, order 4711';
const PART = { what: 'PART', until: '2026-12-01T08:00:00.000Z', note: NOTE };

const targetOf = (admin: Person, status: string, days: number) =>
  admin.put('/target-days', { targets: [{ status, days }] });

/** Sessions end meanwhile, so these people sign in again. */
const advance = async (t: Harness, ms: number, ...people: Person[]): Promise<void> => {
  t.clock.advance(ms);
  for (const person of people) Object.assign(person, await signInAs(t, person));
};

const numbersOf = async (person: Person, path: string, query: string): Promise<string[]> => {
  const response = await person.get(`${path}?limit=100&${query}`);
  expect(response, query).toHaveStatus(200);
  expect(response.body.total).toBe(response.body.items.length);
  return response.body.items.map(({ rmaNumber }: { rmaNumber: string }) => rmaNumber.slice(-2));
};

describe.each(KINDS)('a waiting return at $path', ({ path, table, body, figures, move, start, end }) => {
  const own = (id: string) => `${path}/${id}/waiting-for`;
  const create = async (t: Harness): Promise<string> => (await t.post(path, body())).body.id;

  it('shows what it waits for, with a note that only staff see, and can be resumed', async ({
    t,
    admin,
    staff,
  }) => {
    const id = await create(t);
    const before = (await staff.get(`${path}/${id}`)).body;
    expect(before.waitingFor).toBe(null);
    const set = await staff.put(`${own(id)}?seen=${before.updatedAt}`, PART);
    const since = set.body.updatedAt;
    expect(set.body).toEqual({ ...before, updatedAt: since, waitingFor: { ...PART, since } });
    expect(since > before.updatedAt).toBe(true);
    const { note, ...shown } = set.body.waitingFor;
    expect((await t.get(`${path}/${id}`)).body.waitingFor).toEqual(shown);
    expect((await t.get(path)).body.items[0].waitingFor).toEqual(shown);
    expect((await staff.get(path)).body.items[0].waitingFor).toEqual({ ...shown, note });

    // The same again changes nothing, also from a person who did not see the first.
    expect((await admin.put(`${own(id)}?seen=${before.updatedAt}`, PART)).body).toEqual(set.body);
    expect(await admin.put(`${own(id)}?seen=${before.updatedAt}`, { what: 'CUSTOMER' })).toFailWith(
      409,
      'EDIT_CONFLICT',
    );
    expect(await admin.delete(`${own(id)}?seen=${before.updatedAt}`)).toFailWith(409, 'EDIT_CONFLICT');
    // A changed reason continues the same wait.
    const other = (await admin.put(`${own(id)}?seen=${since}`, { what: 'CUSTOMER' })).body;
    expect(other.waitingFor).toEqual({ what: 'CUSTOMER', until: null, note: null, since });
    // A note and an assignment are no conflict, and leave it as it is.
    await staff.post(`${path}/${id}/notes`, { note: 'Called' });
    const assigned = (await staff.post(`${path}/${id}/assign`, { assigneeId: staff.id })).body;
    expect(assigned.waitingFor).toEqual(other.waitingFor);
    const cleared = (await admin.delete(`${own(id)}?seen=${other.updatedAt}`)).body;
    expect(cleared.waitingFor).toBe(null);
    expect((await admin.delete(own(id))).body).toEqual(cleared);

    const entries = async (caller: Pick<Harness, 'get'>) =>
      (await caller.get(`${path}/${id}/timeline`)).body.items
        .filter(({ type }: { type: string }) => type.startsWith('WAITING'))
        .map(({ type, data, at }: { type: string; data: object; at: string }) => [type, data, at]);
    expect(await entries(staff)).toEqual([
      ['WAITING_SET', PART, since],
      ['WAITING_SET', { what: 'CUSTOMER', until: null, note: null }, other.updatedAt],
      ['WAITING_CLEARED', { what: 'CUSTOMER' }, cleared.updatedAt],
    ]);
    expect((await entries(t))[0][1]).toEqual({ what: PART.what, until: PART.until });
    const { items } = (await t.get('/events?types=all')).body;
    expect(JSON.stringify(items)).not.toContain(NOTE);
    const sent = items.map(({ event, data }: { event: string; data: { waitingFor: object | null } }) => [
      event.split('.')[1],
      data.waitingFor,
    ]);
    const { note: _, ...customer } = other.waitingFor;
    expect(sent).toEqual([
      ['created', null],
      ['updated', shown],
      ['updated', customer],
      ['updated', customer],
      ['updated', null],
    ]);
  });

  it('is refused for a return that does not exist, is closed or erased', async ({ t, admin, staff }) => {
    const id = await create(t);
    for (const [caller, address] of [
      [staff, own(UNKNOWN_ID)],
      [staff, own('x')],
    ] as const) {
      expect(await caller.put(address, PART)).toFailWith(404, 'NOT_FOUND');
      expect(await caller.delete(address)).toFailWith(404, 'NOT_FOUND');
    }
    for (const wrong of [
      {},
      { what: 'LUCK' },
      { ...PART, until: 'soon' },
      // In UTC these are in years beyond our format.
      { ...PART, until: '9999-12-31T23:59:59-00:01' },
      { ...PART, until: '0000-01-01T00:00:00+00:01' },
      { ...PART, note: 'x'.repeat(501) },
      { ...PART, by: 1 },
    ])
      expect(await staff.put(own(id), wrong)).toHaveStatus(400);
    const last = { ...PART, until: '9999-12-31T23:59:59.999Z', note: 'x'.repeat(500) };
    expect((await staff.put(own(id), last)).body.waitingFor).toMatchObject(last);
    await staff.post(`${path}/${id}/${end}`, {});
    const ended = (await staff.get(`${path}/${id}`)).body;
    expect(ended.waitingFor).toBe(null);
    expect(await staff.put(own(id), PART)).toFailWith(409, 'MOVE_NOT_ALLOWED');
    expect(await staff.delete(own(id))).toFailWith(409, 'MOVE_NOT_ALLOWED');
    const { customerEmail: email } = ended;
    expect((await admin.post('/customers/erase', { email, reason: 'A letter' })).body.erased).toBe(1);
    expect(await staff.put(own(id), PART)).toFailWith(409, 'ERASED');
    expect(await staff.delete(own(id))).toFailWith(409, 'ERASED');
  });

  it('pauses its target time until it is resumed', async ({ t, admin, staff }) => {
    await targetOf(admin, start, 2);
    const id = await create(t);
    const read = async () => (await staff.get(`${path}/${id}`)).body;
    const due = Date.parse((await read()).dueAt);
    await advance(t, DAY_MS, admin, staff);
    const first = (await staff.put(own(id), PART)).body;
    expect(first.dueAt).toBe(null);
    await advance(t, 9 * DAY_MS, admin, staff);
    expect(await numbersOf(staff, path, 'overdue=true')).toEqual([]);
    expect((await staff.get('/overview')).body[figures]).toMatchObject({
      overdue: 0,
      dueToday: 0,
      waiting: 1,
    });
    const second = (await staff.delete(own(id))).body;
    const waited = Date.parse(second.updatedAt) - Date.parse(first.waitingFor.since);
    expect(Date.parse(second.dueAt)).toBe(due + waited);
    // A second wait adds to the first.
    const third = (await staff.put(own(id), { what: 'SUPPLIER' })).body;
    await advance(t, 5 * HOUR_MS, admin, staff);
    const fourth = (await staff.delete(own(id))).body;
    const more = Date.parse(fourth.updatedAt) - Date.parse(third.waitingFor.since);
    expect(Date.parse(fourth.dueAt)).toBe(due + waited + more);
    await advance(t, DAY_MS - HOUR_MS, admin, staff);
    expect(await numbersOf(staff, path, 'overdue=true')).toEqual([]);
    await advance(t, 2 * HOUR_MS, admin, staff);
    expect(await numbersOf(staff, path, 'overdue=true')).toEqual(['01']);
    // In its next status the clock begins anew.
    const moved = (await staff.post(`${path}/${id}/${move}`, {})).body;
    await targetOf(admin, moved.status, 2);
    expect(Date.parse((await read()).dueAt)).toBe(Date.parse(moved.statusSince) + 2 * DAY_MS);
  });

  it('stops waiting with a change of status, also by API clients, without a separate entry', async ({
    t,
    admin,
    staff,
  }) => {
    const id = await create(t);
    await staff.put(own(id), PART);
    const mover = path === '/offline-repairs' ? t : staff;
    const moved = await mover.post(`${path}/${id}/${move}`, {});
    expect(moved.body.waitingFor).toBe(null);
    const row = await t.ctx.db.selectFrom(table).selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const { waiting_for, waiting_until, waiting_since, waiting_note, due_from } = row;
    expect([waiting_for, waiting_until, waiting_since, waiting_note, due_from]).toEqual([
      null,
      null,
      null,
      null,
      null,
    ]);
    const types = (await admin.get(`${path}/${id}/timeline`)).body.items.map(
      (entry: { type: string }) => entry.type,
    );
    expect(types).toEqual(['CREATED', 'WAITING_SET', 'STATUS_CHANGED']);
  });

  it('is listed by what it waits for, and every count matches a list', async ({ t, admin, staff }) => {
    await targetOf(admin, start, 1);
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) ids.push(await create(t));
    for (const [i, what] of ['PART', 'CUSTOMER', 'PART'].entries())
      await staff.put(own(ids[i] ?? ''), { what });
    await staff.post(`${path}/${ids[5]}/${end}`, {});
    const expected = {
      'waitingFor=PART': ['03', '01'],
      'waitingFor=CUSTOMER': ['02'],
      'waitingFor=SUPPLIER': [],
      'waitingFor=any&order=asc': ['01', '02', '03'],
      'waitingFor=none': ['06', '05', '04'],
      'waitingFor=none&open=true': ['05', '04'],
      'waitingFor=any&assignee=none&q=rma&sort=dueAt': ['03', '02', '01'],
    };
    for (const [query, numbers] of Object.entries(expected))
      expect([query, await numbersOf(staff, path, query)]).toEqual([query, numbers]);
    expect(await staff.get(`${path}?waitingFor=LUCK`)).toHaveStatus(400);
    expect(await t.get(`${path}?waitingFor=PART`)).toHaveStatus(400);
    const { body } = await staff.get('/overview');
    expect(body[figures]).toMatchObject({ open: 5, waiting: 3, createdToday: 6 });
    const view = { kind: path === '/trade-returns' ? 'TRADE_RETURN' : 'OFFLINE_REPAIR', name: 'Parts' };
    const search = { waitingFor: 'PART', sort: 'dueAt', order: 'asc', dueTo: '2027-01-01T00:00:00Z' };
    expect(await staff.post('/views', { ...view, search })).toHaveStatus(201);
  });

  it('can be set for many at once, and its times increase whatever the clock of a process', async ({
    t,
    staff,
  }) => {
    const ids = await atOnce(20, () => create(t));
    const set = await Promise.all(ids.map((id) => staff.put(own(id), PART)));
    expect(set).toHaveStatuses({ 200: 20 });
    const [id = ''] = ids;
    const { since } = (await staff.get(`${path}/${id}`)).body.waitingFor;
    // Another process, whose clock is an hour behind.
    t.clock.advance(-HOUR_MS);
    const cleared = (await staff.delete(own(id))).body;
    expect(cleared.updatedAt > since).toBe(true);
    const again = (await staff.put(own(id), PART)).body;
    expect(again.waitingFor.since > cleared.updatedAt).toBe(true);
    const moved = (await staff.post(`${path}/${id}/${move}`, {})).body;
    expect([moved.waitingFor, moved.statusSince > again.updatedAt]).toEqual([null, true]);
    expect((await staff.put(own(id), PART)).body.waitingFor).toMatchObject({ what: 'PART' });
  });

  it('loses its note when the customer is erased, and is exported with it before', async ({
    t,
    admin,
    staff,
  }) => {
    const id = await create(t);
    await staff.put(own(id), PART);
    const { customerEmail: email } = (await staff.get(`${path}/${id}`)).body;
    const exported = (await admin.post('/customers/export', { email })).body;
    expect(exported.returns[0].return.waitingFor.note).toBe(NOTE);
    expect(exported.returns[0].timeline[1].data.note).toBe(NOTE);
    await admin.post('/customers/erase', { email, reason: 'A letter', includeOpen: true });
    expect((await staff.get(`${path}/${id}`)).body.waitingFor).toBe(null);
    const row = await t.ctx.db.selectFrom(table).selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const timeline = await t.ctx.db.selectFrom('timeline').selectAll().where('rma_id', '=', id).execute();
    expect(JSON.stringify([row, timeline])).not.toContain('heating element');
    expect((await staff.get('/overview')).body[figures].waiting).toBe(0);
  });

  it('has a due time to the hour, which sorts in both orders, with undated returns last', async ({
    t,
    admin,
    staff,
  }) => {
    await targetOf(admin, start, 2);
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      ids.push(await create(t));
      t.clock.advance(HOUR_MS);
    }
    const [first = '', second = '', , , fifth = ''] = ids;
    const dueOf = async (id: string): Promise<string> => (await staff.get(`${path}/${id}`)).body.dueAt;
    // The first is taken up again six hours later, the second waits, the last has no target.
    await staff.put(own(first), PART);
    await staff.put(own(second), PART);
    await staff.post(`${path}/${fifth}/${move}`, {});
    await advance(t, 6 * HOUR_MS, admin, staff);
    await staff.delete(own(first));
    const order = {
      'sort=dueAt&order=asc': ['03', '04', '01', '02', '05'],
      'sort=dueAt&order=desc': ['01', '04', '03', '05', '02'],
    };
    for (const [query, numbers] of Object.entries(order)) {
      expect([query, await numbersOf(staff, path, query)]).toEqual([query, numbers]);
      expect(await numbersOf(staff, path, `${query}&open=true`)).toEqual(numbers);
    }
    const [third, last] = [await dueOf(ids[2] ?? ''), await dueOf(first)];
    const later = (time: string) => new Date(Date.parse(time) + 1).toISOString();
    expect(await numbersOf(staff, path, `dueFrom=${third}`)).toEqual(['04', '03', '01']);
    expect(await numbersOf(staff, path, `dueFrom=${later(third)}&sort=dueAt`)).toEqual(['01', '04']);
    expect(await numbersOf(staff, path, `dueTo=${third}`)).toEqual([]);
    expect(await numbersOf(staff, path, `dueFrom=${third}&dueTo=${later(third)}`)).toEqual(['03']);
    expect(await numbersOf(staff, path, `dueTo=${last}`)).toEqual(['04', '03']);
    await advance(t, 2 * DAY_MS - 8 * HOUR_MS, admin, staff);
    expect(await numbersOf(staff, path, `overdue=true&dueTo=${later(third)}`)).toEqual(['03']);
    // Without any target nothing is due.
    await admin.put('/target-days', { targets: [] });
    expect(await numbersOf(staff, path, 'sort=dueAt&order=asc')).toEqual(['01', '02', '03', '04', '05']);
    for (const query of ['overdue=true', `dueFrom=${third}`, `dueTo=${last}`])
      expect(await numbersOf(staff, path, query)).toEqual([]);
  });
});
