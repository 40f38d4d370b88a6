import type pg from 'pg';

/**
 * One connection that everybody shares, for short statements outside of transactions: what is asked for in one turn of the
 * event loop goes out as one packet, to one process of PostgreSQL. It is made anew when it breaks. Looks like a pool.
 */
export const sharedConnection = (newClient: () => pg.Client) => {
  let opening: Promise<pg.Client> | null = null;

  const open = async (): Promise<pg.Client> => {
    const client = newClient();
    const forget = () => {
      opening = null;
    };
    client.on('error', forget);
    client.once('end', forget);
    await client.connect();
    return client;
  };
  const connect = async () => {
    opening ??= open().catch((error) => {
      opening = null;
      throw error;
    });
    return Object.assign(await opening, { release: () => {} });
  };

  return {
    connect,
    async end(): Promise<void> {
      const last = opening;
      opening = null;
      await last?.then((client) => client.end()).catch(() => {});
    },
  };
};
export type SharedConnection = ReturnType<typeof sharedConnection>;
