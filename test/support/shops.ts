import { pino } from 'pino';
import { expect } from 'vitest';
import { ADMIN_BASE_PATH, type UserRole } from '../../contract/admin-people.ts';
import { BASE_PATH } from '../../contract/common.ts';
import { buildApp } from '../../src/api/app.ts';
import type { Context } from '../../src/api/context.ts';
import { createClient, type NewApiClient } from '../../src/api-clients/actions.ts';
import { openContext } from '../../src/app/context.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { readConfig } from '../../src/platform/config.ts';
import { type BillingChange, createShop } from '../../src/shops/actions.ts';
import type { Shop } from '../../src/shops/plans.ts';
import { hashPassword } from '../../src/staff/passwords.ts';
import { addUser } from '../../src/staff/users.ts';
import { cookieFrom } from './admin.ts';
import { repairBody } from './bodies.ts';
import { addDeliveries, waitingDelivery } from './delivery-rows.ts';
import { type Env, migratedDatabase, SENDING, type ServerProcess, startServer } from './process.ts';

// Shops, clients and people for tests that start the service as a process, created in this process: the command line takes half a
// second for each.

const inContext = async <Value>(env: Env, work: (ctx: Context) => Promise<Value>): Promise<Value> => {
  const ctx = await openContext(readConfig({ ...env, PORT: '0' }), { log: pino({ level: 'silent' }) });
  try {
    return await work(ctx);
  } finally {
    await ctx.close();
  }
};

type ShopOptions = { name?: string; plan?: Shop['plan']; webhookUrl?: string | null } & BillingChange;

const newShop = async (ctx: Context, { webhookUrl = null, ...options }: ShopOptions) => {
  const shop = await createShop(ctx, OPERATOR, { name: 'Test shop', plan: 'ENTERPRISE', ...options });
  const client = await createClient(ctx, OPERATOR, { shopId: shop.id, name: 'Till', webhookUrl });
  const { id: clientId, apiKey: key, webhookSecret } = client;
  return { shop, client, shopId: shop.id, clientId, key, webhookSecret };
};
export type MadeShop = Awaited<ReturnType<typeof newShop>>;

/** A shop with a client. */
export const makeShop = (env: Env, options: ShopOptions = {}): Promise<MadeShop> =>
  inContext(env, (ctx) => newShop(ctx, options));

export const addShops = (env: Env, count: number, webhookUrl?: (i: number) => string | null) =>
  inContext(env, async (ctx) => {
    const made: MadeShop[] = [];
    for (let i = 0; i < count; i++) made.push(await newShop(ctx, { webhookUrl: webhookUrl?.(i) ?? null }));
    return made;
  });

/** A server on a database of its own with one shop, whose client's key goes with every request. */
export const startShop = async ({ env: settings = {}, ...options }: ShopOptions & { env?: Env } = {}) => {
  const env = await migratedDatabase({ ...(options.webhookUrl ? SENDING : {}), ...settings });
  const shop = await makeShop(env, options);
  return { env, ...shop, server: await startServer(env, { key: shop.key }) };
};

export const addClient = (
  env: Env,
  shopId: string,
  { name = 'Till', webhookUrl = null }: { name?: string; webhookUrl?: string | null } = {},
): Promise<NewApiClient> =>
  inContext(env, (ctx) => createClient(ctx, OPERATOR, { shopId, name, webhookUrl }));

/** A person who works in the shop, and their password. */
export const addPerson = (env: Env, shopId: string, role: UserRole = 'STAFF') =>
  inContext(env, async (ctx) => {
    const person = { email: `staff-${shopId.slice(-8)}@example.com`, password: 'correct horse battery' };
    const passwordHash = await hashPassword(person.password);
    const user = { shopId, email: person.email, name: null, role, passwordHash };
    await ctx.db.transaction().execute((trx) => addUser(ctx, trx, OPERATOR, user));
    return person;
  });

export const addRepairs = (env: Env, key: string, count: number): Promise<void> =>
  inContext(env, async (ctx) => {
    const app = await buildApp(ctx);
    for (let i = 0; i < count; i++) {
      const headers = { 'x-api-key': key };
      const url = `${BASE_PATH}/offline-repairs`;
      const { statusCode } = await app.inject({ method: 'POST', url, headers, payload: repairBody() });
      if (statusCode !== 201) throw new Error(`a repair was not made: ${statusCode}`);
    }
    await app.close();
  });

/** Signs in at one process; the session holds at all of them. Gives the admin API as that person. */
export const signIn = async (server: ServerProcess, person: { email: string; password: string }) => {
  const response = await server.post(`${ADMIN_BASE_PATH}/session`, person);
  expect(response).toHaveStatus(200);
  const cookie = cookieFrom(response);
  const options = { key: null, headers: { cookie } };
  return {
    cookie,
    get: (at: ServerProcess, path: string) => at.get(`${ADMIN_BASE_PATH}${path}`, options),
    post: (at: ServerProcess, path: string, body: unknown = {}) =>
      at.post(`${ADMIN_BASE_PATH}${path}`, body, options),
  };
};
export type SignedIn = Awaited<ReturnType<typeof signIn>>;

export type SeededReceiver = Pick<NewApiClient, 'id' | 'apiKey'>;

/** As many as a shop may have beside its first. */
const CLIENTS_OF_A_SHOP = 99;

/** Clients with these webhook URLs, each with events that wait, in as many shops as that takes; written before any server runs. */
export const seedReceivers = (
  env: Env,
  receivers: { url: string; events: number; bodyBytes?: number }[],
): Promise<SeededReceiver[]> =>
  inContext(env, async (ctx) => {
    const clients: SeededReceiver[] = [];
    let { shop } = await newShop(ctx, {});
    for (const { url, events, bodyBytes = 100 } of receivers) {
      if (clients.length > 0 && clients.length % CLIENTS_OF_A_SHOP === 0) ({ shop } = await newShop(ctx, {}));
      const client = await createClient(ctx, OPERATOR, { shopId: shop.id, name: 'R', webhookUrl: url });
      clients.push(client);
      const body = JSON.stringify({ event: 'offline_repair.closed', data: { text: 'x'.repeat(bodyBytes) } });
      const rows = Array.from({ length: events }, () =>
        waitingDelivery(client.id, ctx.clock.now(), { body }),
      );
      await addDeliveries({ ctx }, rows);
    }
    return clients;
  });
