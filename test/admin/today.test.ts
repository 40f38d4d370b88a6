// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import { type Person, signInAs } from '../support/admin.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';

const it = itWith(sharedHarness());

const DAY_MS = 86_400_000;
const REPAIRS = '/offline-repairs';
const RETURNS = '/trade-returns';

const targets = (admin: Person, days: Record<string, number>) =>
  admin.put('/target-days', {
    targets: Object.entries(days).map(([status, each]) => ({ status, days: each })),
  });

const create = async (t: Harness, path: string, more: Record<string, unknown> = {}): Promise<string> =>
  (await t.post(path, path === REPAIRS ? repairBody(more) : tradeBody(more))).body.id;

/** Sessions end meanwhile, so these people sign in again. */
const advance = async (t: Harness, ms: number, ...people: Person[]): Promise<void> => {
  t.clock.advance(ms);
  for (const person of people) Object.assign(person, await signInAs(t, person));
};

const numbersIn = (items: { rmaNumber: string }[]): string[] =>
  items.map(({ rmaNumber }) => rmaNumber.slice(-2));

describe("today's work", () => {
  it('is what is due first of both kinds, what is assigned to me, and what is open longest', async ({
    t,
    admin,
    staff,
    stranger,
  }) => {
    const empty = (await staff.get('/overview')).body;
    expect([empty.next, empty.mine, empty.openLongest]).toEqual([[], [], []]);
    await targets(admin, { OFFLINE_DIAGNOSTICS: 3, TRADE_SUBMITTED: 1 });
    const ids: string[] = [];
    // Returns 01 to 08, an hour apart.
    for (const path of [REPAIRS, RETURNS, REPAIRS, REPAIRS, REPAIRS, RETURNS, REPAIRS, REPAIRS]) {
      ids.push(await create(t, path));
      t.clock.advance(DAY_MS / 24);
    }
    const [, trade, third, resolved, waiting, ended] = ids as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const assignee = { id: staff.id, name: staff.email.split('@')[0] };
    await staff.post(`${RETURNS}/${trade}/assign`, { assigneeId: staff.id });
    await staff.post(`${REPAIRS}/${resolved}/resolve`, { offlineDisposition: 'WRITE_OFF' });
    await staff.post(`${REPAIRS}/${resolved}/assign`, { assigneeId: staff.id });
    await staff.put(`${REPAIRS}/${waiting}/waiting-for`, { what: 'PART', note: 'Order 4711' });
    await staff.post(`${RETURNS}/${ended}/reject`, {});
    await admin.post(`${REPAIRS}/${third}/assign`, { assigneeId: admin.id });
    await advance(t, 2 * DAY_MS, admin, staff, stranger);

    const { body } = await staff.get('/overview');
    // The trade return is overdue; what waits or has no target is not due.
    expect(numbersIn(body.next)).toEqual(['02', '01', '03', '07', '08']);
    const returned = (await staff.get(`${RETURNS}/${trade}`)).body;
    const { id, rmaNumber, status, companyName: title, customerName, dueAt, createdAt, updatedAt } = returned;
    expect(body.next[0]).toEqual({
      ...{ kind: 'TRADE_RETURN', id, rmaNumber, status, title, customerName, assignee },
      ...{ dueAt, waitingFor: null, createdAt, updatedAt, isPartlyReceived: false },
    });
    expect(dueAt < body.now).toBe(true);
    expect(body.next[1]).toMatchObject({
      kind: 'OFFLINE_REPAIR',
      title: repairBody().faultyItem.productName,
    });
    expect(numbersIn(body.mine)).toEqual(['02', '04']);
    expect(body.mine[1]).toMatchObject({ dueAt: null, assignee, status: 'OFFLINE_RESOLVED' });
    expect(numbersIn(body.openLongest)).toEqual(['01', '02', '03', '05', '07']);
    expect(body.openLongest[3].waitingFor).toMatchObject({ what: 'PART', note: 'Order 4711' });
    expect(numbersIn((await admin.get('/overview')).body.mine)).toEqual(['03']);
    const other = (await stranger.get('/overview')).body;
    expect([other.next, other.mine, other.openLongest]).toEqual([[], [], []]);

    // Without targets nothing is due next, and one's own oldest returns come first.
    await targets(admin, {});
    const without = (await staff.get('/overview')).body;
    expect([without.next, numbersIn(without.mine)]).toEqual([[], ['02', '04']]);
  });

  it("ends at midnight in the reader's time zone, with counts that match the lists", async ({
    t,
    admin,
    staff,
  }) => {
    await targets(admin, { OFFLINE_DIAGNOSTICS: 1 });
    for (let i = 0; i < 30; i++) {
      await create(t, REPAIRS);
      t.clock.advance(DAY_MS / 24);
    }
    await advance(t, 0, staff);
    for (const timeZone of ['UTC', 'Pacific/Auckland', 'America/St_Johns']) {
      const { now, todayBegins, todayEnds, offlineRepairs } = (
        await staff.get(`/overview?timeZone=${timeZone}`)
      ).body;
      const [from, at, to] = [todayBegins, now, todayEnds].map((time: string) => Date.parse(time));
      const clock = new Intl.DateTimeFormat('en', { timeZone, hour12: false, timeStyle: 'medium' });
      for (const midnight of [from, to]) expect(clock.format(midnight)).toMatch(/^(00|24):00:00$/);
      expect([Number(from) <= Number(at), Number(at) < Number(to)]).toEqual([true, true]);
      const total = async (query: string) => (await staff.get(`${REPAIRS}?${query}`)).body.total;
      expect(await total(`dueFrom=${now}&dueTo=${todayEnds}`)).toBe(offlineRepairs.dueToday);
      expect(await total('overdue=true')).toBe(offlineRepairs.overdue);
      expect(await total(`createdFrom=${todayBegins}&createdTo=${todayEnds}`)).toBe(
        offlineRepairs.createdToday,
      );
      expect(offlineRepairs.overdue + offlineRepairs.dueToday).toBeGreaterThan(6);
    }
  });
});

describe('the frequent faults of an SKU', () => {
  const item = (sku: string) => ({ sku, productName: 'Kettle', quantity: 1, price: 49.95 });
  const faultsOf = async (person: Person, sku: string) =>
    (await person.get(`/faults?sku=${encodeURIComponent(sku)}`)).body.items;

  it('are at most six short texts of this SKU and shop, counted in any case', async ({
    t,
    staff,
    stranger,
  }) => {
    const sku = 'KETTLE "17" 50%_[x]*';
    const report = (faultDescription: string, of = sku) =>
      create(t, REPAIRS, { faultDescription, faultyItem: item(of) });
    for (const text of ['Leaks', ' leaks ', 'LEAKS', 'No power', 'no power', 'x'.repeat(60), 'y'.repeat(61)])
      await report(text);
    for (const text of ['Leaks', 'Rattles']) await report(text, `${sku}X`);
    expect(await faultsOf(staff, sku)).toEqual([
      { text: 'LEAKS', count: 3 },
      { text: 'no power', count: 2 },
      { text: 'x'.repeat(60), count: 1 },
    ]);
    for (const text of 'abcdefgh') await report(text);
    const faults = await faultsOf(staff, sku);
    expect([faults.length, faults[0].count, faults[2]]).toEqual([6, 3, { text: 'h', count: 1 }]);
    expect(await faultsOf(staff, 'KETTLE')).toEqual([]);
    expect(await faultsOf(stranger, sku)).toEqual([]);
    for (const query of ['', '?sku=', '?sku=a&limit=1'])
      expect(await staff.get(`/faults${query}`)).toHaveStatus(400);
  });

  it('exclude erased repairs', async ({ t, admin }) => {
    const id = await create(t, REPAIRS, { faultDescription: 'Ada dropped it', faultyItem: item('S') });
    expect(await faultsOf(admin, 'S')).toHaveLength(1);
    const { customerEmail: email } = (await t.get(`${REPAIRS}/${id}`)).body;
    await admin.post('/customers/erase', { email, reason: 'A letter', includeOpen: true });
    expect(await faultsOf(admin, 'S')).toEqual([]);
  });
});
