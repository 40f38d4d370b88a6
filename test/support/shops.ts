import { pino } from 'pino';
import type { UserRole } from '../../contract/admin-people.ts';
import { BASE_PATH } from '../../contract/common.ts';
import { buildApp } from '../../src/api/app.ts';
import { createClient, type NewApiClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { readConfig } from '../../src/service/config.ts';
import { type Context, openContext } from '../../src/service/context.ts';
import { type BillingChange, createShop } from '../../src/shops/actions.ts';
import type { Shop } from '../../src/shops/plans.ts';
import { createUser } from '../../src/staff/users.ts';
import { repairBody } from './bodies.ts';
import type { Env } from './process.ts';

// Shops and clients for tests that start the service as a process, made in this process: the command line takes half a second
// for each.

const inContext = async <Value>(env: Env, work: (ctx: Context) => Promise<Value>): Promise<Value> => {
  const ctx = await openContext(readConfig({ ...env, PORT: '0' }), { log: pino({ level: 'silent' }) });
  try {
    return await work(ctx);
  } finally {
    await ctx.close();
  }
};

/** Shops with a client each. */
export const addShops = (
  env: Env,
  count: number,
  webhookUrl: (i: number) => string | null = () => null,
): Promise<{ shop: Shop; client: NewApiClient }[]> =>
  inContext(env, async (ctx) => {
    const made: { shop: Shop; client: NewApiClient }[] = [];
    for (let i = 0; i < count; i++) {
      const shop = await createShop(ctx, OPERATOR, { name: `Shop ${i}`, plan: 'ENTERPRISE' });
      const client = await createClient(ctx, OPERATOR, {
        shopId: shop.id,
        name: `Till ${i}`,
        webhookUrl: webhookUrl(i),
      });
      made.push({ shop, client });
    }
    return made;
  });

export const addClient = (
  env: Env,
  shopId: string,
  { name = 'Till', webhookUrl = null }: { name?: string; webhookUrl?: string | null } = {},
): Promise<NewApiClient> =>
  inContext(env, (ctx) => createClient(ctx, OPERATOR, { shopId, name, webhookUrl }));

/** A shop and a client of it. */
export const makeShop = (
  env: Env,
  options: { plan?: Shop['plan'] } & BillingChange = {},
): Promise<{ shopId: string; clientId: string; key: string; webhookSecret: string }> =>
  inContext(env, async (ctx) => {
    const shop = await createShop(ctx, OPERATOR, { name: 'Test shop', plan: 'SCALE', ...options });
    const client = await createClient(ctx, OPERATOR, { shopId: shop.id, name: 'Till', webhookUrl: null });
    return {
      shopId: shop.id,
      clientId: client.id,
      key: client.apiKey,
      webhookSecret: client.webhookSecret,
    };
  });

/** A person who works in the shop, and their password. */
export const addPerson = (
  env: Env,
  shopId: string,
  role: UserRole = 'STAFF',
): Promise<{ email: string; password: string }> =>
  inContext(env, async (ctx) => {
    const person = { email: `staff-${shopId.slice(-8)}@example.com`, password: 'correct horse battery' };
    await createUser(ctx, OPERATOR, { shopId, role, ...person });
    return person;
  });

/** Repairs that a program makes. */
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
