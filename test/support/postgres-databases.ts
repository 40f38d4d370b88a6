import { randomBytes } from 'node:crypto';
import pg from 'pg';

// Databases for tests, on the server of the run or on one of a test's own.

export const onServer = async (url: string, statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
};

export interface TestDatabase {
  url: string;
  /** Fails while a connection is open, so a leaked one fails its test. */
  drop(): Promise<void>;
}

const TEMPLATE = 'handback_template';

/** A new database, empty or as the template is. */
export const createDatabase = async (serverUrl: string, clause = ''): Promise<TestDatabase> => {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await onServer(serverUrl, `create database ${name} ${clause}`);
  const url = serverUrl.replace(/\/postgres$/, `/${name}`);
  return { url, drop: () => onServer(serverUrl, `drop database ${name}`) };
};

/** An empty, migrated database. */
export const emptyCopy = (serverUrl: string): Promise<TestDatabase> =>
  createDatabase(serverUrl, `template ${TEMPLATE}`);

export const prepareServer = async (
  serverUrl: string,
  migrate: (templateUrl: string) => Promise<void>,
): Promise<void> => {
  await onServer(serverUrl, `create database ${TEMPLATE}`);
  await migrate(serverUrl.replace(/\/postgres$/, `/${TEMPLATE}`));
};
