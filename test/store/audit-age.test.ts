// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import { sweep } from '../../src/app/janitor.ts';
import { auditRow, OPERATOR } from '../../src/audit/store.ts';
import { monthsBefore } from '../../src/lib/time.ts';
import { adminCaller } from '../support/admin.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, harness } from '../support/harness.ts';

const it = itWith(harness);

const DAY_MS = 24 * 60 * 60 * 1000;

const addEntry = async ({ ctx, shop }: Harness, at: number): Promise<string> => {
  const subject = { type: 'SHOP', id: shop.id, name: shop.name } as const;
  const actor = { ...OPERATOR, address: '192.0.2.7' };
  const row = auditRow({ shopId: shop.id, at, actor, action: 'EXPORTED', subject, data: {} });
  await ctx.db.insertInto('audit_log').values(row).execute();
  return row.id;
};

const kept = ({ ctx }: Harness) =>
  ctx.db
    .selectFrom('audit_log')
    .select(['id', 'address'])
    .where('action', '=', 'EXPORTED')
    .orderBy('id')
    .execute();

describe('the audit log', () => {
  it('keeps entries for 24 months, and addresses for 90 days', async ({ t }) => {
    const now = t.ctx.clock.now();
    await addEntry(t, monthsBefore(now, 24) - DAY_MS);
    const old = await addEntry(t, monthsBefore(now, 24) + DAY_MS);
    const middle = await addEntry(t, now - 91 * DAY_MS);
    const young = await addEntry(t, now - 89 * DAY_MS);
    await sweep(t.ctx);
    expect(await kept(t)).toEqual([
      { id: old, address: null },
      { id: middle, address: null },
      { id: young, address: '192.0.2.7' },
    ]);
  });

  it('cleans up a thousand days in batches', async ({ t }) => {
    const now = t.ctx.clock.now();
    for (let day = 0; day < 1_000; day += 1) await addEntry(t, now - day * DAY_MS - 1);
    await sweep(t.ctx);
    const rows = await kept(t);
    expect(rows.length).toBeGreaterThan(720);
    expect(rows.length).toBeLessThan(735);
    expect(rows.filter(({ address }) => address !== null)).toHaveLength(90);
  });

  it('still counts refused sign-ins of a user in one entry', async ({ t, admin }) => {
    const fail = () =>
      adminCaller(t).post('/session', { email: admin.email, password: 'wrong' }, { ip: '172.16.9.9' });
    await fail();
    await sweep(t.ctx);
    await fail();
    const { rows } = await t.ctx.db
      .selectFrom('audit_log')
      .select('data')
      .where('action', '=', 'SIGN_IN_REFUSED')
      .execute()
      .then((found) => ({ rows: found.map(({ data }) => JSON.parse(data)) }));
    expect(rows).toEqual([{ count: 2 }]);
  });
});

describe('a date some months ago', () => {
  it('is the same day, or the last day of a shorter month', () => {
    const back = (day: string, months: number) =>
      new Date(monthsBefore(Date.parse(day), months)).toISOString().slice(0, 10);
    expect(back('2026-11-18', 24)).toBe('2024-11-18');
    expect(back('2026-03-31', 1)).toBe('2026-02-28');
    expect(back('2026-01-15', 1)).toBe('2025-12-15');
  });
});
