import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { OPERATOR } from '../../src/audit/store.ts';
import { migrateTo, SCHEMA_DIALECTS } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/open.ts';
import { newId } from '../../src/lib/ids.ts';
import { searchReturns } from '../../src/returns/search.ts';
import { readConfig } from '../../src/service/config.ts';
import { openContext } from '../../src/service/context.ts';
import { createShop } from '../../src/shops/actions.ts';
import { staffOf } from '../support/api.ts';
import { ENGINE } from '../support/harness.ts';
import { emptyDatabase } from '../support/process.ts';
import { UNOBSERVED } from '../support/unobserved.ts';

it('a search finds returns of an earlier schema without accents, and their phone numbers without "(0)"', async () => {
  const env = await emptyDatabase();
  const database = openDatabase(readConfig(env), UNOBSERVED);
  const dialect = { ...SCHEMA_DIALECTS[ENGINE], notice: () => {} };
  await migrateTo(database.db, dialect, '0006-identity-provider');
  const insert = (number: number, name: string, phone: string | null) =>
    sql`
    insert into trade_returns (id, shop_id, client_id, number, status, status_since, customer_email, customer_name, customer_phone,
      created_at, updated_at, trade_order_number, search_text, company_name, company_id, reason, items, shipping_address)
    values (${newId(number)}, ${newId(0)}, null, ${number}, 'TRADE_SUBMITTED', 1, 'a@b.example', ${name}, ${phone}, 1, 1, 'TO',
      ${[`#rma-00000${number}`, name.toLowerCase(), phone, phone?.replaceAll(/\D/g, '')].filter(Boolean).join(' ')},
      'C', 'c', 'r', '[]', '{}')`.execute(database.db);
  await insert(1, 'Wojciech Śmigły', null);
  await insert(2, 'Ada Pereira', '+44 (0)20 7946 0958');
  // More than are folded at once.
  for (let number = 3; number < 600; number++) await insert(number, 'Siobhán O’Brien', null);
  await database.close();
  const ctx = await openContext(readConfig({ ...env, PORT: '0' }), { log: pino({ level: 'silent' }) });
  onTestFinished(() => ctx.close());
  const shop = await createShop(ctx, OPERATOR, { name: 'Shop', plan: 'SCALE' });
  await sql`update trade_returns set shop_id = ${shop.id}`.execute(ctx.db);
  const found = async (q: string) =>
    (await searchReturns(ctx, staffOf({ shop }), q)).items.map(({ rmaNumber }) => rmaNumber);
  expect(await found('smigly')).toEqual(['#RMA-000001']);
  expect(await found('020 7946 0958')).toEqual(['#RMA-000002']);
  expect(await found('+44 20 7946 0958')).toEqual(['#RMA-000002']);
  expect(await found("o'brien 599")).toEqual(['#RMA-000599']);
});
