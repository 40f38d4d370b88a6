// engines: sqlite, postgres

import { sql } from 'kysely';
import { expect } from 'vitest';
import { rowCounts } from '../support/api.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { type ApiResponse, ENGINE, harness } from '../support/harness.ts';
import { atOnce } from '../support/responses.ts';

const it = itWith(harness);

// Creations that arrive together share a transaction; callers must not notice.

const numbersOf = (responses: ApiResponse[]): number[] =>
  responses.map(({ body }) => Number(body.rmaNumber.slice('#RMA-'.length))).sort((a, b) => a - b);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

/** A rule of the database that no validation knows of. */
const refuseOrders = {
  postgres: sql`alter table offline_repairs add constraint refused check (order_number <> 'REFUSED')`,
  sqlite: sql`create trigger refused before insert on offline_repairs when new.order_number = 'REFUSED'
    begin select raise(abort, 'refused'); end`,
}[ENGINE];

it('simultaneous creations each return what was sent, with consecutive numbers', async () => {
  const t = await harness({ plan: 'ENTERPRISE' });
  const responses = await atOnce(60, (i) =>
    i % 2
      ? t.post('/trade-returns', tradeBody({ externalRef: `ref-${i}` }))
      : t.post('/offline-repairs', repairBody({ externalRef: `ref-${i}` })),
  );
  expect(responses).toHaveStatuses({ 201: 60 });
  expect(responses.map(({ body }) => body.externalRef)).toEqual(responses.map((_, i) => `ref-${i}`));
  expect(numbersOf(responses)).toEqual(upTo(60));
  for (const { body } of responses.slice(0, 6)) {
    const path = 'tradeOrderNumber' in body ? '/trade-returns' : '/offline-repairs';
    expect((await t.get(`${path}/${body.id}`)).body).toEqual(body);
    expect((await t.get(`${path}/${body.id}/timeline`)).body.items).toHaveLength(1);
  }
});

it('a creation that the database refuses fails alone, and uses no number and no allowance', async ({ t }) => {
  await refuseOrders.execute(t.ctx.db);
  const responses = await atOnce(30, (i) =>
    t.post('/offline-repairs', repairBody(i === 11 ? { orderNumber: 'REFUSED' } : {}), { unchecked: true }),
  );
  expect(responses).toHaveStatuses(responses.map((_, i) => (i === 11 ? 500 : 201)));
  const made = responses.filter(({ status }) => status === 201);
  expect(numbersOf(made)).toEqual(upTo(29));
  expect(await rowCounts(t)).toMatchObject({ repairs: 29, timeline: 29, used: 29 });
});

it('an unreadable row is not changed, and repeating the call sends no event either', async ({ t }) => {
  const { body } = await t.post('/offline-repairs', repairBody());
  await sql`update offline_repairs set faulty_item = '{' where id = ${body.id}`.execute(t.ctx.db);
  const before = await rowCounts(t);
  const other = await t.post('/offline-repairs', repairBody());
  const responses = await Promise.all(
    [body.id, other.body.id, body.id].map((id) =>
      t.post(`/offline-repairs/${id}/close`, {}, { unchecked: true }),
    ),
  );
  expect(responses).toHaveStatuses([500, 200, 500]);
  expect(await rowCounts(t)).toMatchObject({ timeline: before.timeline + 2 });
});

it('simultaneous lists each return their own page', async ({ t }) => {
  for (let i = 0; i < 12; i += 1)
    await t.post('/offline-repairs', repairBody({ externalRef: `ref-${i % 6}` }));
  const responses = await atOnce(40, (i) => t.get(`/offline-repairs?externalRef=ref-${i % 7}&limit=1`));
  expect(responses.map(({ body }) => [body.total, body.items[0]?.externalRef])).toEqual(
    responses.map((_, i) => (i % 7 === 6 ? [0, undefined] : [2, `ref-${i % 7}`])),
  );
});
