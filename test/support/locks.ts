import pg from 'pg';
import { onTestFinished } from 'vitest';
import type { Env } from './process.ts';

/** Somebody with a database tool who begins a transaction and goes for coffee. */
export const holding = async (env: Env, statement: string, values: unknown[]) => {
  const holder = new pg.Client({ connectionString: env['DATABASE_URL'] });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('begin');
  await holder.query(statement, values);
  return { holder, release: () => holder.query('rollback'), keep: () => holder.query('commit') };
};

/** The row of one figure. */
const figure = async (env: Env, select: string): Promise<number> => {
  const watcher = new pg.Client({ connectionString: env['DATABASE_URL'] });
  await watcher.connect();
  const { rows } = await watcher.query(select);
  await watcher.end();
  return Number(rows[0].figure);
};

/** Backends of the service that wait for a lock. */
export const waitingBackends = (env: Env): Promise<number> =>
  figure(
    env,
    `select count(*) as figure from pg_stat_activity
     where application_name = 'handback' and wait_event_type = 'Lock' and datname = current_database()`,
  );

export const deadlocks = (env: Env): Promise<number> =>
  figure(env, 'select deadlocks as figure from pg_stat_database where datname = current_database()');
