import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { OPERATOR } from '../../src/audit/store.ts';
import { createShop } from '../../src/shops/actions.ts';
import { offerSetUp } from '../../src/staff/links.ts';
import { adminCaller } from '../support/admin.ts';
import { type Harness, harness } from '../support/harness.ts';

const WISHES = {
  shopName: 'Harbour Road Electrics',
  email: 'Grace@Example.com',
  name: 'Grace Muller',
  password: 'correct horse battery',
};

/** The app on a database without a shop. */
const withoutShops = async (): Promise<Harness> => {
  const t = await harness();
  for (const table of ['audit_log', 'api_clients', 'shop_counters', 'shops'] as const)
    await t.ctx.db.deleteFrom(table).execute();
  return t;
};

const rowsOf = async ({ ctx: { db } }: Harness) => ({
  shops: (await db.selectFrom('shops').select('id').execute()).length,
  users: (await db.selectFrom('users').select('id').execute()).length,
  tokens: (await db.selectFrom('installation').select('name').where('name', '=', 'set-up').execute()).length,
});

// The link of a first start, and what its page does with it: test/browser/journeys/sign-in.test.ts.

it('a link used several times at once creates one shop with one Admin', async () => {
  const t = await withoutShops();
  const token = await offerSetUp(t.ctx);
  const answers = await Promise.all(
    ['one@example.com', 'two@example.com', 'three@example.com'].map((email) =>
      adminCaller(t).post('/set-up', { ...WISHES, email, token }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  const entries = await t.ctx.db.selectFrom('audit_log').select(['action', 'address']).execute();
  expect(entries.map(({ action }) => action).sort()).toEqual(['SHOP_CREATED', 'USER_CREATED']);
  expect(entries.every(({ address }) => address !== null)).toBe(true);
  expect(await rowsOf(t)).toEqual({ shops: 1, users: 1, tokens: 0 });
});

it('a set-up that fails leaves nothing behind, and the link good', async () => {
  const t = await withoutShops();
  const token = await offerSetUp(t.ctx);
  await sql`alter table users rename to users_away`.execute(t.ctx.db);
  const failed = await adminCaller(t).post('/set-up', { ...WISHES, token }, { unchecked: true });
  expect(failed.status).toBe(500);
  await sql`alter table users_away rename to users`.execute(t.ctx.db);
  expect(await rowsOf(t)).toEqual({ shops: 0, users: 0, tokens: 1 });
  expect((await adminCaller(t).post('/set-up', { ...WISHES, token })).status).toBe(201);
  expect(await rowsOf(t)).toEqual({ shops: 1, users: 1, tokens: 0 });
});

it('the link is good for one hour; a check says so, and says truly that there is a shop', async () => {
  const t = await withoutShops();
  const check = async (token: string | null) => {
    const { status, body } = await adminCaller(t).post('/set-up/check', { token });
    return [status, body?.code];
  };
  const first = await offerSetUp(t.ctx);
  t.clock.advance(3_599_000);
  expect(await check(first)).toEqual([204, undefined]);
  t.clock.advance(1_000);
  expect(await check(first)).toEqual([403, 'SETUP_LINK_INVALID']);
  expect((await adminCaller(t).post('/set-up', { ...WISHES, token: first })).status).toBe(403);
  const second = await offerSetUp(t.ctx);
  expect(await check(second)).toEqual([204, undefined]);
  expect(await check(first)).toEqual([403, 'SETUP_LINK_INVALID']);
  // By the command line, as the demo shop is.
  await createShop(t.ctx, OPERATOR, { name: 'Demo shop', plan: 'SCALE' });
  expect(await check(second)).toEqual([409, 'ALREADY_SET_UP']);
  expect(await offerSetUp(t.ctx)).toBeNull();
  expect((await adminCaller(t).post('/set-up', { ...WISHES, token: second })).status).toBe(409);
});
