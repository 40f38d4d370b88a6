import type { Observer } from '../database.ts';
import { type CheckedPool, type Connection, END_WITHIN_MS, endWithin } from './checked-pool.ts';
import type { PreparingClient } from './client.ts';

type NewClient = () => { client: PreparingClient; settings: string };

/** One connection that many use at once. It is opened when it is first needed, and again when it breaks. */
class SharedConnection {
  users = 0;
  #isEnded = false;
  #opening: Promise<Connection> | null = null;
  /** The check of a connection that lay idle, while it runs. */
  #checking: Promise<Connection> | null = null;
  readonly #newClient: NewClient;
  readonly #onFault: Observer['onFault'];

  constructor(newClient: NewClient, onFault: Observer['onFault']) {
    this.#newClient = newClient;
    this.#onFault = onFault;
  }

  get isOpen(): boolean {
    return this.#opening !== null;
  }

  /** The connection, opened or checked first where it must be. */
  async alive(): Promise<Connection> {
    const connection = await (this.#opening ?? this.#open());
    if (!this.#checking && !connection.isSilent) return connection;
    this.#checking ??= this.#check(connection).finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    const last = this.#opening;
    this.#opening = null;
    // One that never opened has told whoever waited for it.
    const connection = await last?.catch(() => null);
    if (connection) await endWithin(END_WITHIN_MS, () => connection.end(), [connection]);
  }

  #open(): Promise<Connection> {
    // Whoever comes after the end must not open one that nobody closes.
    if (this.#isEnded) return Promise.reject(new Error('the database is closed'));
    const { client, settings } = this.#newClient();
    const release = () => {
      this.users -= 1;
    };
    const connection = Object.assign(client, { release });
    const opening = client
      .connect()
      .then(() => client.query(settings))
      .then(() => connection);
    // Only this connection is forgotten, never the one that took its place.
    const forget = () => {
      if (this.#opening === opening) this.#opening = null;
    };
    client.on('error', (error) => {
      forget();
      this.#onFault('shared connection lost', error);
    });
    client.once('end', forget);
    opening.catch(() => {
      forget();
      client.destroy();
    });
    this.#opening = opening;
    return opening;
  }

  async #check(connection: Connection): Promise<Connection> {
    if (await connection.isAlive()) return connection;
    this.#onFault('shared connection dead', new Error('a shared connection gave no sign of life'));
    this.#opening = null;
    connection.destroy();
    return this.#open();
  }
}

/**
 * A few connections that all requests share, for short statements outside of transactions: what is asked for in one turn of the
 * event loop goes out as one packet, on the connection with the fewest users. Looks like a pool.
 */
export const sharedConnections = (
  newClient: NewClient,
  count: number,
  onFault: Observer['onFault'],
): CheckedPool => {
  const all = Array.from({ length: count }, () => new SharedConnection(newClient, onFault));
  let ofThisTurn: SharedConnection | null = null;

  const choose = (): SharedConnection => {
    if (ofThisTurn) return ofThisTurn;
    ofThisTurn = all.reduce((least, each) => (each.users < least.users ? each : least));
    setImmediate(() => {
      ofThisTurn = null;
    });
    return ofThisTurn;
  };
  const connect = async (): Promise<Connection> => {
    const chosen = choose();
    chosen.users += 1;
    try {
      return await chosen.alive();
    } catch (error) {
      chosen.users -= 1;
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
      await Promise.all(all.filter(({ isOpen }) => isOpen).map((each) => each.alive()));
      await this.query('select 1');
    },
    async end() {
      await Promise.all(all.map((each) => each.end()));
    },
  };
};
