import { randomBytes } from 'node:crypto';
import pg from 'pg';

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
  drop(): Promise<void>;
}

/** An empty, migrated database. Dropping it fails while a connection to it is open, so a leaked pool fails its test. */
export const copyTemplate = async (serverUrl: string): Promise<TestDatabase> => {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await onServer(serverUrl, `create database ${name} template handback_template`);
  return {
    url: serverUrl.replace(/\/postgres$/, `/${name}`),
    drop: () => onServer(serverUrl, `drop database ${name}`),
  };
};
