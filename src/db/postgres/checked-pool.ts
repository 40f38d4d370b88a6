import type pg from 'pg';
import { isUnavailable, whileConnecting } from '../errors.ts';
import type { PreparingClient } from './client.ts';
import type { Hosts } from './hosts.ts';

export type Connection = PreparingClient & { release(broken?: Error | boolean): void };

/** A pool whose connections are asked for a sign of life when they have been idle. */
export interface CheckedPool {
  connect(): Promise<Connection>;
  /** One statement on any of them. */
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<pg.QueryResult<Row>>;
  end(): Promise<void>;
}

/** A server that hangs takes no goodbye: after this time its connections are cut. */
const END_WITHIN_MS = 500;

/** Ends connections in good order, or by force where that takes too long. */
const endWithin = async (
  ms: number,
  end: () => Promise<unknown>,
  open: Iterable<PreparingClient>,
): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      for (const client of open) client.destroy();
      resolve();
    }, ms);
  });
  await Promise.race([end(), tooLate]).finally(() => clearTimeout(timer));
};

const DEAD = new Error('a connection that was idle gave no sign of life');
const OUTDATED = new Error('another server is in use');

/** Never hands out a connection that a firewall forgot, or whose server is gone or not in use any more, while it lay idle. */
export const checked = (pool: pg.Pool, hosts: Hosts, onDead: (error: Error) => void): CheckedPool => {
  /** Where one of them was found dead, those that were not heard of since are not asked one by one. */
  let distrustBefore = 0;
  const open = new Set<PreparingClient>();
  pool.on('connect', (client) => open.add(client as unknown as PreparingClient));
  pool.on('remove', (client) => open.delete(client as unknown as PreparingClient));

  const connect = async (): Promise<Connection> => {
    for (;;) {
      const opened = await whileConnecting(hosts.connect(() => pool.connect()));
      const client = opened as unknown as Connection;
      if (client.isOutdated) {
        client.destroy();
        client.release(OUTDATED);
        continue;
      }
      const isTrusted = performance.now() - client.silentMs >= distrustBefore;
      if (isTrusted && (await client.isAlive())) return client;
      if (isTrusted) {
        distrustBefore = performance.now();
        onDead(DEAD);
      }
      client.destroy();
      client.release(DEAD);
    }
  };
  const query: CheckedPool['query'] = async (text, values = []) => {
    const client = await connect();
    try {
      const answer = await client.query(text, values);
      client.release();
      return answer;
    } catch (error) {
      client.release(isUnavailable(error));
      throw error;
    }
  };
  return {
    connect,
    query,
    end: () => endWithin(END_WITHIN_MS, () => pool.end(), open),
  };
};
