// engines: sqlite, postgres

import { sql } from 'kysely';
import { describe, expect } from 'vitest';
import { OPERATOR } from '../../src/audit/store.ts';
import { findRelated } from '../../src/returns/search.ts';
import { changeShop } from '../../src/shops/actions.ts';
import { newPerson } from '../support/admin.ts';
import { rulesOf, staffOf, UNKNOWN_ID } from '../support/api.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { ENGINE, sharedHarness } from '../support/harness.ts';
import { planOf, readsIn, watched } from '../support/plans.ts';
import { auditLog } from '../support/responses.ts';

const it = itWith(sharedHarness());

const REPAIRS = '/offline-repairs';
const RETURNS = '/trade-returns';
const item = { sku: 'KETTLE-17', productName: 'Kettle', quantity: 1, price: 49.95 };

describe('a move by staff that names the version they saw', () => {
  it('is refused if the repair was moved in the meantime, and changes nothing', async ({ t }) => {
    const [ana, ben] = [await newPerson(t, { role: 'STAFF' }), await newPerson(t, { role: 'STAFF' })];
    const { id, updatedAt } = (await t.post(REPAIRS, repairBody())).body;
    await ana.post(`${REPAIRS}/${id}/resolve`, { offlineDisposition: 'WRITE_OFF' });
    const closed = (await ana.post(`${REPAIRS}/${id}/close?seen=${updatedAt}`, {})).body;
    // Ana herself resolved it since, so her own change counts, too.
    expect(closed.code).toBe('EDIT_CONFLICT');
    const now = (await ana.post(`${REPAIRS}/${id}/close`, {})).body;

    const stale = await ben.post(`${REPAIRS}/${id}/begin-repair?seen=${updatedAt}`, { repairNotes: 'N' });
    expect(stale).toFailWith(409, 'EDIT_CONFLICT');
    expect((await ben.get(`${REPAIRS}/${id}`)).body).toEqual(now);
    const anyway = await ben.post(`${REPAIRS}/${id}/begin-repair?seen=${now.updatedAt}`, {
      repairNotes: 'N',
    });
    expect(anyway.body).toMatchObject({ status: 'OFFLINE_REPAIR', offlineDisposition: 'WRITE_OFF' });
    // Tracking is a move too.
    await t.post(`${REPAIRS}/${id}/tracking`, { trackingNumber: 'JD1', carrierName: 'DHL' });
    const tracked = await ben.post(`${REPAIRS}/${id}/close?seen=${anyway.body.updatedAt}`, {});
    expect(tracked).toFailWith(409, 'EDIT_CONFLICT');
    expect(await ben.post(`${REPAIRS}/${id}/close?seen=yesterday`, {})).toHaveStatus(400);
    // Programs do not send this field.
    expect(await t.post(`${REPAIRS}/${id}/close?seen=${updatedAt}`, {})).toHaveStatus(400);
  });

  it('succeeds after notes and corrections, for both kinds', async ({ t, staff }) => {
    for (const [path, body, move] of [
      [REPAIRS, repairBody(), 'begin-repair'],
      [RETURNS, tradeBody(), 'approve'],
    ] as const) {
      const { id, updatedAt } = (await t.post(path, body)).body;
      await staff.post(`${path}/${id}/notes`, { note: 'Called' });
      await staff.post(`${path}/${id}/correct`, { customerName: 'Ada P.' });
      expect(await staff.post(`${path}/${id}/${move}?seen=${updatedAt}`, {})).toHaveStatus(200);
    }
  });

  it('of a trade return is refused because the return is no longer open', async ({ t, staff }) => {
    const { id, updatedAt } = (await t.post(RETURNS, tradeBody())).body;
    await staff.post(`${RETURNS}/${id}/approve`, {});
    expect(await staff.post(`${RETURNS}/${id}/reject?seen=${updatedAt}`, {})).toFailWith(
      409,
      'EDIT_CONFLICT',
    );
    expect(await staff.post(`${RETURNS}/${id}/approve?seen=${updatedAt}`, {})).toFailWith(
      409,
      'MOVE_NOT_ALLOWED',
    );
  });
});

describe('a correction', () => {
  it('changes the given fields with a timeline entry and an audit entry, and sends no event', async ({
    t,
  }) => {
    const admin = await newPerson(t, { name: 'Ana Lopez' });
    const created = (await t.post(REPAIRS, repairBody({ faultyItem: { ...item, serialNumber: 'SN-1' } })))
      .body;
    const { id } = created;
    const corrected = await admin.post(`${REPAIRS}/${id}/correct`, {
      customerName: ' Ada Perreira ',
      customerPhone: '+351 21 000',
      serialNumber: 'SN-l',
    });
    expect(corrected).toHaveStatus(200);
    const { updatedAt } = corrected.body;
    expect(corrected.body).toEqual({
      ...created,
      updatedAt,
      assignee: null,
      dueAt: null,
      customerName: 'Ada Perreira',
      customerPhone: '+351 21 000',
      faultyItem: { ...created.faultyItem, serialNumber: 'SN-l' },
    });
    expect(updatedAt > created.updatedAt).toBe(true);

    const fields = ['customerName', 'customerPhone', 'serialNumber'];
    const entry = { type: 'CORRECTED', actor: { name: 'Ana Lopez' } };
    const shown = (await t.get(`${REPAIRS}/${id}/timeline`)).body.items[1];
    expect(shown).toMatchObject({ ...entry, data: { fields } });
    for (const value of ['Ada', '+351', 'SN-']) expect(JSON.stringify(shown)).not.toContain(value);
    expect((await admin.get(`${REPAIRS}/${id}/timeline`)).body.items[1]).toMatchObject({
      ...entry,
      data: {
        customerName: { from: 'Ada Pereira', to: 'Ada Perreira' },
        customerPhone: { from: null, to: '+351 21 000' },
        serialNumber: { from: 'SN-1', to: 'SN-l' },
      },
    });
    const [audit] = await auditLog(admin, 'RETURN_CORRECTED');
    expect(audit).toMatchObject({ subject: { type: 'RETURN', id, name: '#RMA-000001' }, data: { fields } });
    expect(JSON.stringify(audit)).not.toContain('Perreira');
    expect((await t.get('/events')).body.items).toHaveLength(1);

    // Found by the new values, not by the old ones.
    const found = async (query: string) => (await admin.get(`${REPAIRS}?${query}`)).body.total;
    expect(await found('q=perreira')).toBe(1);
    expect(await found('q=pereira')).toBe(0);
    expect([await found('serialNumber=SN-l'), await found('serialNumber=SN-1')]).toEqual([1, 0]);
    const emptied = await admin.post(`${REPAIRS}/${id}/correct`, { serialNumber: '', customerPhone: null });
    expect([emptied.body.faultyItem.serialNumber, emptied.body.customerPhone]).toEqual([null, null]);
  });

  it('of a trade return changes the company, and without a difference it leaves no trace', async ({
    t,
    staff,
  }) => {
    const { id } = (await t.post(RETURNS, tradeBody())).body;
    const correct = async (body: object) => (await staff.post(`${RETURNS}/${id}/correct`, body)).body;
    const values = { companyName: 'Northwind', customerEmail: 'new@northwind.example' };
    const corrected = await correct(values);
    expect(corrected).toMatchObject(values);
    for (const nothing of [{ companyName: 'Northwind' }, {}])
      expect(await correct(nothing)).toEqual(corrected);
    expect((await staff.get(`${RETURNS}/${id}/timeline`)).body.total).toBe(2);
    expect((await staff.get(`${RETURNS}?q=new@northwind`)).body.total).toBe(1);
  });

  it("follows the rules of creation, and does not overwrite a colleague's correction", async ({
    t,
    staff,
  }) => {
    const { id, updatedAt } = (await t.post(REPAIRS, repairBody())).body;
    const correct = (body: object) => staff.post(`${REPAIRS}/${id}/correct`, body);
    for (const [field, value, rule] of [
      ['customerName', '', 'notEmpty'],
      ['customerName', null, 'type'],
      ['customerEmail', 'ada', 'format'],
      ['serialNumber', 'x'.repeat(129), 'maxLength'],
      ['companyName', 'Northwind', 'unknown'],
      ['orderNumber', 'SO-1', 'unknown'],
    ] as const)
      expect(rulesOf(await correct({ [field]: value }))).toEqual({ [field]: rule });
    expect(await correct({ customerName: 'Bea', seen: updatedAt })).toHaveStatus(200);
    expect(await correct({ customerName: 'Cleo', seen: updatedAt })).toFailWith(409, 'EDIT_CONFLICT');
    expect((await correct({ customerName: 'Cleo' })).body.customerName).toBe('Cleo');
    expect(await staff.post(`${REPAIRS}/${UNKNOWN_ID}/correct`, { customerName: 'X' })).toFailWith(404);
    await changeShop(t.ctx, OPERATOR, t.shop.id, { subscription: 'inactive' });
    expect(await correct({ customerName: 'Dora' })).toFailWith(403, 'READ_ONLY');
  });
});

it('related returns share the serial number, customer or company', async ({ t, staff, stranger }) => {
  const repair = async (serialNumber: string | null, customerEmail: string) =>
    (await staff.post(REPAIRS, repairBody({ customerEmail, faultyItem: { ...item, serialNumber } }))).body;
  const trade = async (companyId: string, customerEmail: string) =>
    (await staff.post(RETURNS, tradeBody({ companyId, customerEmail }))).body;
  await stranger.post(REPAIRS, repairBody({ faultyItem: { ...item, serialNumber: 'SN-1' } }));
  const first = await repair('SN-1', 'someone@example.com');
  for (let i = 0; i < 6; i += 1) await repair(null, 'ADA@example.com');
  const traded = await trade('company-1', 'Ada@Example.com');
  const second = await repair('SN-1', 'ada@example.com');
  const related = async (path: string, { id }: { id: string }) =>
    (await staff.get(`${path}/${id}/related`)).body;
  const later = await related(REPAIRS, second);
  const { id, rmaNumber, status, customerName, createdAt } = first;
  expect(later.sameSerial).toEqual({
    total: 1,
    items: [{ kind: 'OFFLINE_REPAIR', id, rmaNumber, status, title: 'Kettle', customerName, createdAt }],
  });
  expect(later.sameCustomer.total).toBe(7);
  expect(later.sameCustomer.items).toHaveLength(5);
  expect(later.sameCustomer.items[0]).toMatchObject({ kind: 'TRADE_RETURN', id: traded.id });
  const none = { items: [], total: 0 };
  expect(await related(REPAIRS, first)).toEqual({ sameSerial: none, sameCustomer: none });
  // A return of the same company and email counts once.
  const again = await related(RETURNS, await trade('company-1', 'ada@example.com'));
  expect(again.sameCustomer.total).toBe(8);
  const colleague = await related(RETURNS, await trade('company-1', 'bob@example.com'));
  expect(colleague.sameCustomer.total).toBe(2);

  // Read from an index, however many returns there are.
  const { ctx, statements } = watched(t.ctx);
  await findRelated(ctx, 'trade_returns', staffOf(t), traded.id);
  await findRelated(ctx, 'offline_repairs', staffOf(t), second.id);
  expect(statements.length).toBeGreaterThan(5);
  if (ENGINE === 'sqlite')
    for (const statement of statements)
      for (const read of readsIn(await planOf(t.ctx.lists, statement)))
        expect(read).toMatch(
          /USING.* INDEX \w+_(serial|customer|company) \(shop_id=\? AND .*=\? AND number<\?\)/,
        );

  // Only the damaged row is skipped.
  await sql`update offline_repairs set faulty_item = '{' where id = ${first.id}`.execute(t.ctx.db);
  expect((await related(REPAIRS, second)).sameSerial).toEqual({ items: [], total: 1 });
});
