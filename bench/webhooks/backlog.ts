import { setTimeout as pause } from 'node:timers/promises';
import { BASE_PATH } from '../../contract/common.ts';
import { CHANNEL } from '../../src/db/postgres-wake.ts';
import { creation } from '../requests.ts';
import { type SeededShop, seedDeliveries, waitingDeliveries } from '../seed.ts';
import type { WebhookHouse } from '../stage.ts';

/** Puts a backlog before the service and lets it begin; the promises come true with its first and last arrival. */
export const beginDrain = async (house: WebhookHouse, count: number) => {
  const arrivals = house.receivers.expect(count);
  await seedDeliveries(house.database, house.away, count);
  await wakeDispatcher(house);
  return arrivals;
};

/** Rows that came in behind the service's back are found when it looks: when it is called, or when an event of its own is due. */
const wakeDispatcher = async ({ service, near, database }: WebhookHouse): Promise<void> => {
  if (database.engine === 'postgres') await database.run(`select pg_notify('${CHANNEL}', '')`);
  const {
    path,
    headers,
    body = '',
  } = creation(`${BASE_PATH}/offline-repairs`, { 'x-api-key': (near[0] as SeededShop).apiKey }, 0);
  const response = await fetch(service.url + path, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`creating answered ${response.status}: ${await response.text()}`);
};

/** Arrived is not yet settled. */
export const untilSettled = async ({ database, ear }: WebhookHouse): Promise<void> => {
  while ((await waitingDeliveries(database)) > 0) await pause(100);
  ear.heard();
};
