// engines: sqlite, postgres

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { executedMigrations, expectedSchema, SCHEMA_DIALECTS } from '../../src/db/migrate.ts';
import type { SchemaChange } from '../../src/db/migrations/types.ts';
import { newId } from '../../src/lib/ids.ts';
import { cliHere, runHere } from '../support/commands-here.ts';
import { addMigration, openOn } from '../support/database.ts';
import { doctor } from '../support/doctor.ts';
import { ONLY_POSTGRES } from '../support/engines.ts';
import { ENGINE } from '../support/harness.ts';
import { onServer } from '../support/postgres-databases.ts';
import {
  type Env,
  emptyDatabase,
  run,
  SECRET_KEY,
  startServer,
  temporaryFolder,
} from '../support/process.ts';

describe('the search index', ONLY_POSTGRES, () => {
  const hasIndex = async (env: Env) => {
    const indexes = sql`select 1 from pg_indexes where indexname = 'offline_repairs_search'`;
    return (await indexes.execute(openOn(env).db)).rows.length > 0;
  };

  it('is skipped with a notice if the user may not create the extension', async () => {
    const env = await emptyDatabase();
    const role = `limited_${randomBytes(6).toString('hex')}`;
    const own = env['DATABASE_URL'] as string;
    const url = new URL(own);
    const name = url.pathname.slice(1);
    await onServer(inject('postgresUrl'), `create role ${role} login`);
    onTestFinished(() => onServer(own, `drop owned by ${role}; drop role ${role}`));
    const revoke = `revoke create on database ${name} from public`;
    await onServer(own, `${revoke}; grant create on schema public to ${role}`);
    url.username = role;
    const notices: string[] = [];
    await openOn({ ...env, DATABASE_URL: url.href }).migrate((message) => notices.push(message));
    expect(notices).toEqual([expect.stringMatching(/pg_trgm.*42501.*searches/)]);
    expect(await hasIndex(env)).toBe(false);
  });

  it('fails the migration for any other error', async () => {
    const env = await emptyDatabase();
    const database = openOn(env);
    await sql`create table trade_returns_search (x int)`.execute(database.db);
    await expect(database.migrate()).rejects.toMatchObject({ code: '42P07' });
    await sql`drop table trade_returns_search`.execute(database.db);
    await database.migrate();
    expect(await hasIndex(env)).toBe(true);
  });
});

const addColour: SchemaChange = async (db) => {
  await sql`alter table shops add column colour text`.execute(db);
};

describe('a migration of a later release', () => {
  const ofThisRelease = async () => {
    const env = { ...(await emptyDatabase()), SECRET_KEY };
    const database = openOn(env);
    await database.migrate();
    const shop = { id: newId(1), name: 'Shop', plan: 'SCALE', subscription: 'active' } as const;
    await database.db
      .insertInto('shops')
      .values({ ...shop, created_at: 1, updated_at: 1 })
      .execute();
    return { env, database };
  };

  it('runs once, and keeps all rows', async () => {
    const { env, database } = await ofThisRelease();
    addMigration('0002-colour', addColour);
    expect((await doctor(env))['migrations']).toMatchObject({
      state: 'warn',
      message: expect.stringContaining('1 pending, beginning with 0002-colour'),
    });
    // A second run would add the column again, and fail.
    await database.migrate();
    await database.migrate();
    expect(await executedMigrations(database.db)).toEqual(['0001-schema', '0002-colour']);
    const { rows } = await sql`select name, colour from shops`.execute(database.db);
    expect(rows).toEqual([{ name: 'Shop', colour: null }]);
    expect((await doctor(env))['migrations']).toMatchObject({
      state: 'ok',
      message: expect.stringContaining('0002-colour'),
    });
  });

  it('leaves no trace if it fails, nor do those before it in the same run', async () => {
    const { database } = await ofThisRelease();
    addMigration('0002-colour', addColour);
    addMigration('0003-wrong', async (db) => {
      await sql`alter table shops add column size text`.execute(db);
      await sql`alter table not_there add column size text`.execute(db);
    });
    await expect(database.migrate()).rejects.toThrow(/not_there/);
    expect(await executedMigrations(database.db)).toEqual(['0001-schema']);
    const { rows } = await SCHEMA_DIALECTS[ENGINE].catalogue.execute(database.db);
    expect(rows.filter(({ name }) => ['shops.colour', 'shops.size'].includes(name))).toEqual([]);
  });
});

describe('a database migrated by another release', () => {
  const addChange = (env: Env, name: string) =>
    sql`insert into kysely_migration (name, timestamp) values (${name}, ${new Date().toISOString()})`.execute(
      openOn(env).db,
    );

  it('is accepted as it is if that release is a later one', async () => {
    const env = await emptyDatabase();
    await openOn(env).migrate();
    await addChange(env, '9998-of-a-later-release');
    await addChange(env, '9999-of-a-later-release');
    await openOn(env).migrate();
    const { rows } = await sql`select 1 from kysely_migration where name > '9'`.execute(openOn(env).db);
    expect(rows).toHaveLength(2);
  });

  it('is refused with one line if a pre-release version created it', async () => {
    const env = await emptyDatabase();
    await openOn(env).migrate();
    await sql`delete from kysely_migration`.execute(openOn(env).db);
    for (const name of ['0001-initial-schema', '0002-receipts']) await addChange(env, name);
    const { status, stderr } = await runHere(['migrate'], { ...env, SECRET_KEY });
    expect(status).toBe(1);
    expect(stderr.trim()).toMatch(
      /^.*pre-release version .* created this database \(0001-initial-schema\).*$/,
    );
  });
});

describe('the expected schema', () => {
  const changed = async (...statements: string[]): Promise<Env> => {
    const env = { ...(await emptyDatabase()), SECRET_KEY };
    const { db, migrate } = openOn(env);
    await migrate();
    for (const statement of statements) await sql.raw(statement).execute(db);
    return env;
  };

  it('is what the migrations create', async () => {
    const words = SCHEMA_DIALECTS[ENGINE];
    const { rows } = await words.catalogue.execute(openOn(await changed()).db);
    // Indexes behind keys have the engine's own names, and PostgreSQL may lack the extension that its search index needs.
    const isChecked = (name: string) =>
      !/^kysely_|^sqlite_|_pkey$|_key$/.test(name) && !(ENGINE === 'postgres' && name.endsWith('_search'));
    const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);
    const expected = await expectedSchema(words);
    expect(expected.toSorted(byName)).toEqual(rows.filter(({ name }) => isChecked(name)).sort(byName));
    expect(expected.length).toBeGreaterThan(100);
  });

  const days = (type: string) => [
    'drop table target_days',
    `create table target_days (shop_id ${SCHEMA_DIALECTS[ENGINE].id} not null, status text not null, days ${type})`,
  ];

  const plainIndex = ['drop index events_id', 'create index events_id on events (id)'];

  it.each<[what: string, statements: string[], named: string]>([
    [
      'a table is missing',
      ['drop table webhook_leases'],
      'webhook_leases.receiver_id is missing, and 2 more',
    ],
    ['a column is missing', ['alter table shops drop column usage_cap'], 'shops.usage_cap is missing'],
    ['an index is missing', ['drop index webhook_deliveries_retry'], 'webhook_deliveries_retry is missing'],
    ['a type differs', days('text not null'), 'target_days.days is "text not null" instead of "integer'],
    ['an index is not unique', plainIndex, 'events_id is "index" instead of "unique index"'],
  ])('is missing if %s', async (_what, statements, named) => {
    expect(await doctor(await changed(...statements))).toMatchObject({
      migrations: { state: 'wrong', message: expect.stringContaining(named) },
      data: { state: 'warn' },
    });
  });

  it('is checked at a start, which fails with one line that says what to do', async () => {
    const env = await changed('drop table webhook_leases');
    const { status, stderr } = await run(['serve'], { ...env, PORT: '0' });
    expect({ status, lines: stderr.trim().split('\n').length }).toEqual({ status: 1, lines: 1 });
    expect(stderr).toContain('webhook_leases.receiver_id is missing, and 2 more');
    expect(stderr).toMatch(/back it up with this release \(handback backup\) and restore that into an empty/);
  });

  it('may have more tables, columns and indexes, which a later release added', async () => {
    const env = await changed(
      'create table added (id text)',
      'alter table shops add column added text',
      'create index shops_added on shops (added)',
      ...days('integer'),
    );
    expect(await (await startServer(env)).get('/readyz')).toHaveStatus(200);
    expect((await doctor(env))['migrations']?.state).toBe('ok');
  });

  it('is restored by the backup and restore that the line recommends', async () => {
    const env = await changed('alter table webhook_deliveries drop column reason');
    const file = join(temporaryFolder(), 'backup');
    await cliHere(['backup', file], env);
    const restored = { ...(await emptyDatabase()), SECRET_KEY };
    await cliHere(['restore', file], restored);
    expect(await (await startServer(restored)).get('/readyz')).toHaveStatus(200);
  });
});
