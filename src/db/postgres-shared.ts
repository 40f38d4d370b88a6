import type pg from 'pg';

interface Shared {
  opening: Promise<pg.Client & { release(): void }> | null;
  /** By how many it is in use. */
  asked: number;
}

/**
 * A few connections that everybody shares, for short statements outside of transactions: what is asked for in one turn of
 * the event loop goes out as one packet, on the connection that has least to do. Each is made when it is first needed, and
 * anew when it breaks. Looks like a pool.
 */
export const sharedConnections = (newClient: () => pg.Client, count: number) => {
  const all: Shared[] = Array.from({ length: count }, () => ({ opening: null, asked: 0 }));
  let ofThisTurn: Shared | null = null;

  const open = async (shared: Shared): Promise<pg.Client & { release(): void }> => {
    const release = () => {
      shared.asked -= 1;
    };
    const client = Object.assign(newClient(), { release });
    const forget = () => {
      shared.opening = null;
    };
    client.on('error', forget);
    client.once('end', forget);
    await client.connect();
    return client;
  };
  const choose = (): Shared => {
    if (ofThisTurn) return ofThisTurn;
    ofThisTurn = all.reduce((least, each) => (each.asked < least.asked ? each : least));
    setImmediate(() => {
      ofThisTurn = null;
    });
    return ofThisTurn;
  };
  const connect = async () => {
    const shared = choose();
    shared.asked += 1;
    try {
      shared.opening ??= open(shared).catch((error) => {
        shared.opening = null;
        throw error;
      });
      return await shared.opening;
    } catch (error) {
      shared.asked -= 1;
      throw error;
    }
  };

  return {
    connect,
    async end(): Promise<void> {
      await Promise.all(
        all.map(async (shared) => {
          const last = shared.opening;
          shared.opening = null;
          await last?.then((client) => client.end()).catch(() => {});
        }),
      );
    },
  };
};
export type SharedConnections = ReturnType<typeof sharedConnections>;
