import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/db/open.ts';
import { ENGINE } from '../support/harness.ts';
import { onServer } from '../support/postgres-databases.ts';
import { type Env, emptyDatabase, run, SECRET_KEY } from '../support/process.ts';
import { UNOBSERVED } from '../support/unobserved.ts';

const open = (env: Env) => {
  const database = openDatabase(readConfig(env), UNOBSERVED);
  onTestFinished(() => database.close());
  return database;
};

if (ENGINE === 'postgres')
  describe('the search index', () => {
    const hasIndex = async (env: Env) => {
      const { rows } = await sql`select 1 from pg_indexes where indexname = 'offline_repairs_search'`.execute(
        open(env).db,
      );
      return rows.length > 0;
    };

    it('is left out, with a word to the operator, where the user may not create the extension', async () => {
      const env = await emptyDatabase();
      const role = `limited_${randomBytes(6).toString('hex')}`;
      const own = env['DATABASE_URL'] as string;
      const url = new URL(own);
      const name = url.pathname.slice(1);
      await onServer(inject('postgresUrl'), `create role ${role} login`);
      onTestFinished(() => onServer(own, `drop owned by ${role}; drop role ${role}`));
      await onServer(
        own,
        `revoke create on database ${name} from public; grant create on schema public to ${role}`,
      );
      url.username = role;
      const notices: string[] = [];
      await open({ ...env, DATABASE_URL: url.href }).migrate((message) => notices.push(message));
      expect(notices).toEqual([expect.stringMatching(/pg_trgm.*42501.*searches/)]);
      expect(await hasIndex(env)).toBe(false);
    });

    it('fails the migration where anything else is wrong', async () => {
      const env = await emptyDatabase();
      const database = open(env);
      await sql`create table trade_returns_search (x int)`.execute(database.db);
      await expect(database.migrate()).rejects.toMatchObject({ code: '42P07' });
      await sql`drop table trade_returns_search`.execute(database.db);
      await database.migrate();
      expect(await hasIndex(env)).toBe(true);
    });
  });

describe('a database that another release has migrated', () => {
  const addChange = (env: Env, name: string) =>
    sql`insert into kysely_migration (name, timestamp) values (${name}, ${new Date().toISOString()})`.execute(
      open(env).db,
    );

  it('is taken as it is where that release is a later one', async () => {
    const env = await emptyDatabase();
    await open(env).migrate();
    await addChange(env, '9998-of-a-later-release');
    await addChange(env, '9999-of-a-later-release');
    await open(env).migrate();
    const { rows } = await sql`select 1 from kysely_migration where name > '9'`.execute(open(env).db);
    expect(rows).toHaveLength(2);
  });

  it('is refused in one line where a pre-release version created it', async () => {
    const env = await emptyDatabase();
    await open(env).migrate();
    await sql`delete from kysely_migration`.execute(open(env).db);
    for (const name of ['0001-initial', '0002-webhook-deliveries', '0015-product-names'])
      await addChange(env, name);
    const { status, stderr } = await run(['serve'], { ...env, SECRET_KEY });
    expect(status).toBe(1);
    expect(stderr.trim()).toMatch(
      /^.*pre-release version of Handback created this database \(0001-initial\).*$/,
    );
  });
});
