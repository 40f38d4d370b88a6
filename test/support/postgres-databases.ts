import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { scaled } from './until.ts';

// Databases for tests, on the server of the run or on one of a test's own. To copy the template takes 0.1 to 0.4 s, so a database that
// a test is done with is emptied and used again, unless the test changed its tables.

const onDatabase = async <Value>(
  url: string,
  work: (client: pg.Client) => Promise<Value>,
): Promise<Value> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

export const onServer = async (url: string, statement: string): Promise<void> => {
  await onDatabase(url, (client) => client.query(statement));
};

export interface TestDatabase {
  url: string;
  /** Fails while a connection is open, so a leaked one fails its test. */
  drop(): Promise<void>;
}

const TEMPLATE = 'handback_template';

const databaseUrl = (serverUrl: string, name: string): string => serverUrl.replace(/\/postgres$/, `/${name}`);

/** A new database, empty or as the clause says. */
export const createDatabase = async (serverUrl: string, clause = ''): Promise<TestDatabase> => {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await onServer(serverUrl, `create database ${name} ${clause}`);
  return { url: databaseUrl(serverUrl, name), drop: () => onServer(serverUrl, `drop database ${name}`) };
};

/** Makes the template with `migrate`, and the list of databases that are free. */
export const prepareServer = async (
  serverUrl: string,
  migrate: (templateUrl: string) => Promise<void>,
): Promise<void> => {
  await onServer(serverUrl, `create database ${TEMPLATE}`);
  await migrate(databaseUrl(serverUrl, TEMPLATE));
  const shape = await onDatabase(databaseUrl(serverUrl, TEMPLATE), shapeOf);
  await onServer(
    serverUrl,
    `create table free_databases (name text primary key);
     create table template_shape as select '${shape}'::text as shape`,
  );
};

/** An empty, migrated database. */
export const emptyCopy = async (serverUrl: string): Promise<TestDatabase> => {
  const free = await onDatabase(serverUrl, async (client) => {
    const { rows } = await client.query(
      `delete from free_databases
       where name = (select name from free_databases limit 1 for update skip locked) returning name`,
    );
    return rows[0]?.name as string | undefined;
  });
  const url = free
    ? databaseUrl(serverUrl, free)
    : (await createDatabase(serverUrl, `template ${TEMPLATE}`)).url;
  return { url, drop: () => giveBack(serverUrl, new URL(url).pathname.slice(1)) };
};

/** What a test has filled with thousands of rows is slower for the next one; an empty one has 8 MB. One with statistics is planned otherwise. */
const LARGE_BYTES = 16 * 2 ** 20;

const giveBack = async (serverUrl: string, name: string): Promise<void> => {
  const shape = await onDatabase(databaseUrl(serverUrl, name), async (client) => {
    await untilAlone(client);
    const { rowCount: analyzed } = await client.query(
      'select from pg_stat_user_tables where analyze_count + autoanalyze_count > 0',
    );
    const found = analyzed ? null : await shapeOf(client);
    await emptyTables(client);
    return found;
  });
  await onDatabase(serverUrl, async (client) => {
    const { rowCount } = await client.query(
      'select from template_shape where shape = $1 and pg_database_size($2) < $3',
      [shape, name, LARGE_BYTES],
    );
    if (rowCount) await client.query('insert into free_databases values ($1)', [name]);
    else await client.query(`drop database ${name}`);
  });
};

/** The server takes a moment to see that a connection was closed. */
const LEAKED_AFTER_MS = scaled(30_000);

const untilAlone = async (client: pg.Client): Promise<void> => {
  const deadline = Date.now() + LEAKED_AFTER_MS;
  for (;;) {
    const { rows } = await client.query(
      `select query from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
    );
    if (rows.length === 0) return;
    if (Date.now() > deadline)
      throw new Error(
        `${rows.length} connections were left open: ${rows.map(({ query }) => query).join('; ')}`,
      );
    await pause(5);
  }
};

/** Changes whenever a table, a column, a constraint, a trigger, an index or a setting of the database does. */
const shapeOf = async (client: pg.Client): Promise<string> => {
  const { rows } = await client.query(
    `select md5(string_agg(part, ',' order by part)) as shape from (
       select c.relname || '.' || a.attname || ' ' || a.atttypid as part from pg_attribute a join pg_class c on c.oid = a.attrelid
         where c.relnamespace = 'public'::regnamespace
       union all select conname || ' ' || conrelid::regclass from pg_constraint where connamespace = 'public'::regnamespace
       union all select tgname || ' ' || tgrelid::regclass from pg_trigger where not tgisinternal
       union all select proname from pg_proc where pronamespace = 'public'::regnamespace
       union all select array_to_string(setconfig, ' ') from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
         where d.datname = current_database()) as parts`,
  );
  return rows[0].shape;
};

const emptyTables = async (client: pg.Client): Promise<void> => {
  const { rows } = await client.query(
    `select format('delete from %I', tablename) as statement from pg_tables
     where schemaname = 'public' and tablename not like 'kysely%'`,
  );
  const deletions = rows.map(({ statement }) => statement).join('; ');
  // Rows refer to each other; as a replica the server takes them in any order.
  await client.query(`set session_replication_role = replica; ${deletions}`);
};
