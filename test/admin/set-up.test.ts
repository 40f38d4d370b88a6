import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { OPERATOR } from '../../src/audit/store.ts';
import { createShop } from '../../src/shops/actions.ts';
import { offerSetUp } from '../../src/staff/links.ts';
import { adminCaller } from '../support/admin.ts';
import { expectError } from '../support/api.ts';
import { type Harness, harness } from '../support/harness.ts';
import { emptyDatabase, startServer } from '../support/process.ts';
import { until } from '../support/until.ts';

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

const linkIn = (text: string): string => /\/admin\/set-up#([0-9a-f]{48})/.exec(text)?.[1] ?? '';

it('the link of a first start creates the first shop and its Admin, once', async () => {
  const server = await startServer(await emptyDatabase());
  const token = await until('the link is printed', () => linkIn(server.stderr));
  const json = { headers: { 'content-type': 'application/json' } };
  const setUp = (wishes: object) => server.post('/admin/api/set-up', wishes, json);

  expectError(await setUp({ ...WISHES, token: '0'.repeat(48) }), 403, 'SETUP_LINK_INVALID');
  expectError(await setUp({ ...WISHES, token, password: 'short' }), 400);
  expect(await setUp({ ...WISHES, token })).toMatchObject({
    status: 201,
    body: { shop: { name: 'Harbour Road Electrics' }, user: { email: 'grace@example.com' } },
  });
  expectError(await setUp({ ...WISHES, token, email: 'other@example.com' }), 409, 'ALREADY_SET_UP');

  const { email, password } = WISHES;
  const session = await server.post('/admin/api/session', { email, password }, json);
  expect(session.body).toMatchObject({
    user: { role: 'ADMIN', name: 'Grace Muller' },
    shop: { plan: 'SCALE', subscription: 'active' },
  });
  // Neither the token nor the password stands in a log.
  expect(server.stdout).not.toContain(token);
  expect(server.stdout).not.toContain(password);
});

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
