import { setTimeout as pause } from 'node:timers/promises';
import { CHANNELS } from '../../src/db/postgres/listen.ts';
import { seedDeliveries, waitingDeliveries } from '../seed.ts';
import type { WebhookHouse } from '../stage.ts';

/** Puts a backlog before the service and lets it begin; the promises come true with its first and last arrival. */
export const beginDrain = async (house: WebhookHouse, count: number) => {
  const arrivals = house.receivers.expect(count);
  await seedDeliveries(house.database, house.away, count);
  // Rows that came in behind the service's back are found when it looks: at a call that names nobody, or every five seconds.
  if (house.database.engine === 'postgres')
    await house.database.run(`select pg_notify('${CHANNELS.deliveries}', '')`);
  return arrivals;
};

/** Arrived is not yet settled. */
export const untilSettled = async ({ database }: WebhookHouse): Promise<void> => {
  while ((await waitingDeliveries(database)) > 0) await pause(100);
};
