import type { Db } from '../../src/db/database.ts';

export const holdConnections = async (...pools: Db[]): Promise<() => Promise<void>> => {
  const ended = Promise.withResolvers<void>();
  const held = await Promise.all(
    pools.map(
      (db) =>
        new Promise<{ released: Promise<void> }>((resolve) => {
          const released = db.connection().execute(() => {
            resolve({ released });
            return ended.promise;
          });
        }),
    ),
  );
  return async () => {
    ended.resolve();
    await Promise.all(held.map(({ released }) => released));
  };
};
