// engines: postgres

import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { cliHere } from '../support/commands-here.ts';
import { doctor } from '../support/doctor.ts';
import { type Env, emptyDatabase, lookInto, startServer } from '../support/process.ts';
import { makeShop } from '../support/shops.ts';

it('two installations use two schemas of one database, and neither sees the other', async () => {
  const first = await emptyDatabase();
  const owner = lookInto(first);
  await sql`create schema "Second one"`.execute(owner);
  // One installation in the default schema, and one whose search path contains both.
  const options = encodeURIComponent('-c search_path="Second\\ one",public');
  const second: Env = { ...first, DATABASE_URL: `${first['DATABASE_URL']}?options=${options}` };
  const shops = [await makeShop(first), await makeShop(second)];
  const servers = await Promise.all(
    [first, second].map((env, i) => startServer(env, { key: shops[i]?.key as string })),
  );
  for (const [i, server] of servers.entries()) {
    expect((await server.create()).body.rmaNumber).toBe('#RMA-000001');
    expect((await server.get('/offline-repairs')).body.total).toBe(1);
    expect(await server.get('/offline-repairs', { key: shops[1 - i]?.key as string })).toHaveStatus(401);
  }
  for (const env of [first, second]) {
    const found = await doctor(env);
    expect(Object.values(found).filter(({ state }) => state === 'wrong')).toEqual([]);
    expect(await cliHere(['shop', 'list'], env)).toHaveLength(1);
  }
  const { rows } = await sql<{ schema: string; tables: number }>`
      select schemaname as schema, count(*)::int4 as tables from pg_tables
      where schemaname in ('public', 'Second one') group by 1 order by 1`.execute(owner);
  expect(rows.map(({ schema }) => schema)).toEqual(['Second one', 'public']);
  expect(rows[0]?.tables).toBe(rows[1]?.tables);
  const { rows: indexes } = await sql`select from pg_indexes
      where indexname = 'offline_repairs_search' and indexdef like '%gin_trgm_ops%'`.execute(owner);
  expect(indexes).toHaveLength(2);
  for (const server of servers) expect((await server.stop()).status).toBe(0);
});
