// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import { sweep } from '../../src/app/janitor.ts';
import { newId } from '../../src/lib/ids.ts';
import { eraseEmployeeStep } from '../../src/personal-data/erasures.ts';
import { newPerson, type Person } from '../support/admin.ts';
import { ISO, newRepair, UNKNOWN_ID } from '../support/api.ts';
import { tablesOf } from '../support/dump.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { auditLog } from '../support/responses.ts';

const it = itWith(sharedHarness());

const REASON = { reason: 'Asked for it' };
const BEFORE = 'gone.before@leaver.example';
const AFTER = 'gone.after@leaver.example';
const NAMES = ['Gone Hopper', 'Gone Married', BEFORE, AFTER];

/** A user whose name is in every place that can have it, and who was removed a day ago. */
const leaver = async (t: Harness, admin: Person, { isFresh = false } = {}) => {
  const person = await newPerson(t, { role: 'STAFF', email: BEFORE, name: 'Gone Hopper' });
  const repair = (await newRepair(t)).id;
  const change = (by: Person, action: string, body: object) =>
    by.post(`/offline-repairs/${repair}/${action}`, body);
  await change(person, 'notes', { note: 'Called' });
  await change(admin, 'assign', { assigneeId: person.id });
  await change(person, 'begin-repair', {});
  t.clock.advance(5);
  await admin.patch(`/users/${person.id}`, { name: 'Gone Married', email: AFTER });
  await change(person, 'resolve', { offlineDisposition: 'WRITE_OFF' });
  await person.post('/session', { email: AFTER, password: 'wrong, and written down' });
  expect(await admin.delete(`/users/${person.id}`)).toHaveStatus(204);
  if (!isFresh) t.clock.advance(90_000);
  return { id: person.id, repair };
};

const namesLeft = async (t: Harness): Promise<string[]> => {
  const text = JSON.stringify(await tablesOf(t.ctx.db));
  return NAMES.filter((name) => text.includes(name));
};

const erase = (admin: Person, id: string) => admin.post(`/former-employees/${id}/erase`, REASON);

describe('a removed user', () => {
  it('is listed until erased', async ({ t, admin }) => {
    expect((await admin.get('/former-employees')).body).toEqual({ items: [] });
    const { id } = await leaver(t, admin);
    const shown = { id, email: AFTER, removedAt: expect.stringMatching(ISO), erasing: false };
    expect((await admin.get('/former-employees')).body).toEqual({ items: [shown] });
    expect(await erase(admin, id)).toHaveStatus(204);
    expect((await admin.get('/former-employees')).body).toEqual({ items: [] });
  });

  it('is absent from all timelines and audit entries once erased, and the rest of them stays', async ({
    t,
    admin,
  }) => {
    const { id, repair } = await leaver(t, admin);
    expect(await namesLeft(t)).toEqual(NAMES);
    const before = (await admin.get(`/offline-repairs/${repair}/timeline`)).body.items;
    const entries = await auditLog(admin);
    await erase(admin, id);
    expect(await namesLeft(t)).toEqual([]);
    const after = (await admin.get(`/offline-repairs/${repair}/timeline`)).body.items;
    const erased = { type: 'USER', id, name: '[erased]' };
    expect(after).toEqual(
      before.map((entry: (typeof before)[number]) => ({
        ...entry,
        actor: entry.actor.id === id ? erased : entry.actor,
        data: entry.type === 'ASSIGNED' ? { assigneeId: id, assigneeName: '[erased]' } : entry.data,
      })),
    );
    const [newest, ...others] = await auditLog(admin);
    expect(newest).toMatchObject({
      action: 'FORMER_EMPLOYEE_ERASED',
      actor: { id: admin.id },
      subject: { type: 'USER', id, name: '[erased]' },
      data: REASON,
    });
    const traceOf = (of: typeof others) => of.map(({ id, at, action }) => ({ id, at, action }));
    expect(traceOf(others)).toEqual(traceOf(entries));
    expect(others.filter(({ actor }) => actor.id === id).every(({ address }) => address === null)).toBe(true);
    expect(others.find(({ action }) => action === 'USER_REMOVED')).toMatchObject({ data: { role: 'STAFF' } });
  });

  it('is erased once, however often that is requested', async ({ t, admin }) => {
    const { id } = await leaver(t, admin);
    for (let i = 0; i < 3; i += 1) expect(await erase(admin, id)).toHaveStatus(204);
    expect(await auditLog(admin, 'FORMER_EMPLOYEE_ERASED')).toHaveLength(1);
  });

  it('who was removed a minute ago is erased by the janitor, once none of their changes can still be running', async ({
    t,
    admin,
  }) => {
    const { id } = await leaver(t, admin, { isFresh: true });
    await erase(admin, id);
    expect((await admin.get('/former-employees')).body.items).toMatchObject([{ id, erasing: true }]);
    await sweep(t.ctx);
    expect((await admin.get('/former-employees')).body.items).toMatchObject([{ id, erasing: true }]);
    t.clock.advance(61_000);
    await sweep(t.ctx);
    expect((await admin.get('/former-employees')).body.items).toEqual([]);
    expect(await namesLeft(t)).toEqual([]);
  });

  it('is erased from many timelines in small batches that resume where they ended', async ({ t, admin }) => {
    const { id } = await leaver(t, admin);
    const at = t.ctx.clock.now();
    const rows = Array.from({ length: 4_500 }, (_, i) => ({
      rma_id: newId(at + Math.floor(i / 3)),
      at: at + i,
      id: newId(at + i),
      type: 'NOTE_ADDED' as const,
      actor_type: 'USER' as const,
      actor_id: i % 2 ? id : admin.id,
      actor_name: i % 2 ? 'Gone Hopper' : 'Ada',
      data: '{}',
    }));
    for (let first = 0; first < rows.length; first += 500)
      await t.ctx.db
        .insertInto('timeline')
        .values(
          rows
            .slice(first, first + 500)
            .map((row) => ({ ...row, from_status: null, to_status: null, note: null })),
        )
        .execute();
    const unerased = async () =>
      (await t.ctx.db.selectFrom('timeline').select('id').where('actor_name', '=', 'Gone Hopper').execute())
        .length;
    await t.ctx.db
      .insertInto('erasures')
      .values({
        subject_id: id,
        shop_id: t.shop.id,
        kind: 'users',
        at,
        progress: '00000000-0000-0000-0000-000000000000',
      })
      .execute();
    const left: number[] = [];
    while (await eraseEmployeeStep(t.ctx, id)) left.push(await unerased());
    // 2,252 entries, 800 in each step.
    expect(left.map((count) => count > 0)).toEqual([true, true]);
    expect(left[0]).toBeGreaterThan(left[1] as number);
    expect(await namesLeft(t)).toEqual([]);
    const others = t.ctx.db.selectFrom('timeline').select('id').where('actor_name', '=', 'Ada');
    expect(await others.execute()).toHaveLength(2_250);
  });

  it('cannot be erased while still active, and are not shown to another shop', async ({
    t,
    admin,
    staff,
    stranger,
  }) => {
    await leaver(t, admin);
    for (const [by, whom] of [
      [admin, staff.id],
      [admin, UNKNOWN_ID],
      [admin, 'x'],
    ] as const)
      expect(await erase(by, whom)).toFailWith(404, 'FORMER_EMPLOYEE_NOT_FOUND');
    expect((await stranger.get('/former-employees')).body).toEqual({ items: [] });
    expect(await namesLeft(t)).toEqual(NAMES);
  });
});
