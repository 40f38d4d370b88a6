import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { TRADE_RETURN_STATUSES, type TradeReturnStatus } from '../../contract/lifecycle.ts';
import type { TradeReturn } from '../../contract/trade-return.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import type { Db } from '../../src/db/database.ts';
import { executedMigrations, migrateTo, SCHEMA_DIALECTS } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/open.ts';
import { tradeReturns } from '../../src/returns/actions.ts';
import { readConfig } from '../../src/service/config.ts';
import { openContext } from '../../src/service/context.ts';
import { createShop } from '../../src/shops/actions.ts';
import { staffOf } from '../support/api.ts';
import { ENGINE } from '../support/harness.ts';
import { type Env, emptyDatabase, SECRET_KEY } from '../support/process.ts';
import { UNOBSERVED } from '../support/unobserved.ts';

const PREFIX = '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2';
const SHOP = `${PREFIX}f01`;
const idOf = (status: TradeReturnStatus): string => `${PREFIX}e0${TRADE_RETURN_STATUSES.indexOf(status)}`;

/** As the first release stored them. */
const DETAILS = { variantTitle: null, weight: null, tradeLineItemId: null };
const ITEMS = [
  { sku: 'A', productName: 'Lamp', quantity: 4, price: 120.5, ...DETAILS },
  { sku: 'B', productName: 'Cable', quantity: 0.0001, price: 99999999999.9999, ...DETAILS },
];
/** 482 and 9999999.99999999. */
const DECLARED = 10000481.99999999;

/** A return in each status, in the schema of the first release. */
const fillFirstRelease = async (db: Db): Promise<void> => {
  await migrateTo(db, { ...SCHEMA_DIALECTS[ENGINE], notice: () => {} }, '0001-initial-schema');
  const address = JSON.stringify({ street: 's', suburb: 's', state: 's', postcode: 'p' });
  for (const [number, status] of TRADE_RETURN_STATUSES.entries())
    await sql`
      insert into trade_returns (id, shop_id, client_id, number, status, status_since, customer_email, customer_name, created_at,
        updated_at, trade_order_number, search_text, company_name, company_id, reason, items, shipping_address)
      values (${idOf(status)}, ${SHOP}, null, ${number}, ${status}, 1, 'a@b.example', 'A', 1, 1, 'TO', '', 'C', 'c', 'r',
        ${JSON.stringify(ITEMS)}, ${address})`.execute(db);
};

const openMigrated = async (env: Env) => {
  const database = openDatabase(readConfig(env), UNOBSERVED);
  await fillFirstRelease(database.db);
  expect(await executedMigrations(database.db)).toEqual(['0001-initial-schema']);
  await database.migrate();
  expect(await executedMigrations(database.db)).toContain('0002-receipts');
  await database.close();
  const ctx = await openContext(readConfig({ ...env, PORT: '0' }), { log: pino({ level: 'silent' }) });
  onTestFinished(() => ctx.close());
  const shop = await createShop(ctx, OPERATOR, { name: 'Shop', plan: 'SCALE' });
  await ctx.db
    .updateTable('trade_returns')
    .set({ shop_id: shop.id } as object)
    .execute();
  const caller = staffOf({ shop });
  const read = async (status: TradeReturnStatus): Promise<TradeReturn> =>
    JSON.parse(JSON.stringify(await tradeReturns.get(ctx, caller, idOf(status))));
  return { ctx, caller, read };
};

const figuresIn = ({ items }: TradeReturn) => items.map(({ received, accepted }) => [received, accepted]);
const IN_FULL = ITEMS.map(({ quantity }) => [quantity, quantity]);
const NOTHING = ITEMS.map(() => [0, 0]);

it('returns of the release before it count in full if they were received, and not at all otherwise', async () => {
  const { ctx, caller, read } = await openMigrated({ ...(await emptyDatabase()), SECRET_KEY });
  const received: readonly string[] = ['TRADE_RECEIVED', 'TRADE_CREDIT_REQUESTED', 'TRADE_RESOLVED'];
  for (const status of TRADE_RETURN_STATUSES) {
    const isReceived = received.includes(status);
    const record = await read(status);
    expect({ status, figures: figuresIn(record) }).toEqual({
      status,
      figures: isReceived ? IN_FULL : NOTHING,
    });
    expect(record).toMatchObject({
      status,
      declaredAmount: DECLARED,
      creditAmount: isReceived ? DECLARED : null,
      items: ITEMS.map((item, i) => ({ ...item, line: i + 1 })),
    });
  }
  // They are changed like any other.
  const lines = [{ line: 1, received: 3, accepted: 2, note: null }];
  await tradeReturns.move(ctx, caller, idOf('TRADE_RECEIVED'), 'receive', { note: null, lines });
  const corrected = await read('TRADE_RECEIVED');
  expect(figuresIn(corrected)).toEqual([[3, 2], IN_FULL[1]]);
  expect(corrected.creditAmount).toBe(10000240.99999999);
  await tradeReturns.move(ctx, caller, idOf('TRADE_CREDIT_REQUESTED'), 'resolve', { note: null });
  expect((await read('TRADE_CREDIT_REQUESTED')).creditAmount).toBe(DECLARED);
});

it('what the release before it receives later, beside this one, counts in full but for what was counted', async () => {
  const { ctx, caller, read } = await openMigrated({ ...(await emptyDatabase()), SECRET_KEY });
  const id = idOf('TRADE_APPROVED');
  const lines = [{ line: 1, received: 3, accepted: 2, note: null }];
  await tradeReturns.move(ctx, caller, id, 'receive', { note: null, lines });
  expect(figuresIn(await read('TRADE_APPROVED'))).toEqual([
    [3, 2],
    [0, 0],
  ]);
  // It does not know the new columns.
  const receive = (which: string) =>
    sql`update trade_returns set status = 'TRADE_RECEIVED' where id = ${which}`.execute(ctx.db);
  await receive(id);
  expect(await read('TRADE_APPROVED')).toMatchObject({
    status: 'TRADE_RECEIVED',
    creditAmount: 10000240.99999999,
  });
  expect(figuresIn(await read('TRADE_APPROVED'))).toEqual([[3, 2], IN_FULL[1]]);
  await receive(idOf('TRADE_SUBMITTED'));
  expect(figuresIn(await read('TRADE_SUBMITTED'))).toEqual(IN_FULL);
});
