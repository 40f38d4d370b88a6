import type { Observer } from '../database.ts';
import { type CheckedPool, type Connection, END_WITHIN_MS, endWithin } from './checked-pool.ts';
import type { PreparingClient } from './client.ts';

interface Slot {
  opening: Promise<Connection> | null;
  /** The check of a connection that lay idle, while it runs. */
  checking: Promise<Connection> | null;
  users: number;
}

/**
 * A few connections that all requests share, for short statements outside of transactions: what is asked for in one turn of the
 * event loop goes out as one packet, on the connection with the fewest users. Each is opened when it is first needed, and again
 * when it breaks. Looks like a pool.
 */
export const sharedConnections = (
  newClient: () => { client: PreparingClient; settings: string },
  count: number,
  onFault: Observer['onFault'],
): CheckedPool => {
  const slots: Slot[] = Array.from({ length: count }, () => ({ opening: null, checking: null, users: 0 }));
  let ofThisTurn: Slot | null = null;

  const open = (slot: Slot): Promise<Connection> => {
    const { client, settings } = newClient();
    const connection = Object.assign(client, {
      release: () => {
        slot.users -= 1;
      },
    });
    const opening = client
      .connect()
      .then(() => client.query(settings))
      .then(() => connection);
    // Only this connection is forgotten, never the one that took its place.
    const forget = () => {
      if (slot.opening === opening) slot.opening = null;
    };
    client.on('error', (error) => {
      forget();
      onFault('shared connection lost', error);
    });
    client.once('end', forget);
    opening.catch(() => {
      forget();
      client.destroy();
    });
    slot.opening = opening;
    return opening;
  };

  const check = async (slot: Slot, connection: Connection): Promise<Connection> => {
    if (await connection.isAlive()) return connection;
    onFault('shared connection dead', new Error('a shared connection gave no sign of life'));
    slot.opening = null;
    connection.destroy();
    return open(slot);
  };

  const alive = async (slot: Slot): Promise<Connection> => {
    const connection = await (slot.opening ?? open(slot));
    if (!slot.checking && !connection.isSilent) return connection;
    slot.checking ??= check(slot, connection).finally(() => {
      slot.checking = null;
    });
    return slot.checking;
  };

  const choose = (): Slot => {
    if (ofThisTurn) return ofThisTurn;
    ofThisTurn = slots.reduce((least, each) => (each.users < least.users ? each : least));
    setImmediate(() => {
      ofThisTurn = null;
    });
    return ofThisTurn;
  };

  const connect = async (): Promise<Connection> => {
    const slot = choose();
    slot.users += 1;
    try {
      return await alive(slot);
    } catch (error) {
      slot.users -= 1;
      throw error;
    }
  };

  return {
    connect,
    async query(text, values = []) {
      const connection = await connect();
      return connection.query(text, values).finally(connection.release);
    },
    async check() {
      await Promise.all(slots.filter(({ opening }) => opening).map(alive));
      await this.query('select 1');
    },
    async end() {
      await Promise.all(
        slots.map(async (slot) => {
          const last = slot.opening;
          slot.opening = null;
          // One that never opened has told whoever waited for it.
          const connection = await last?.catch(() => null);
          if (connection) await endWithin(END_WITHIN_MS, () => connection.end(), [connection]);
        }),
      );
    },
  };
};
