// engines: sqlite, postgres

import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { repairBody } from '../support/bodies.ts';
import { cliHere as cli } from '../support/commands-here.ts';
import { ONLY_SQLITE } from '../support/engines.ts';
import { harness } from '../support/harness.ts';
import { databaseAsText, foundIn } from '../support/private-values.ts';
import { migratedDatabase, startServer } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { makeShop, startShop } from '../support/shops.ts';
import { until } from '../support/until.ts';

describe('a command beside a running server takes effect from the next request on', () => {
  it('for a plan, a subscription and a revoked client', async () => {
    const env = await migratedDatabase();
    const server = await startServer(env);
    // Created while the server runs: its first response proves that it sees them.
    const { shopId, clientId, key } = await makeShop(env);
    const read = () => server.get('/offline-repairs', { key });
    const create = () => server.create({}, { key });
    const update = (...options: string[]) => cli(['shop', 'update', shopId, ...options], env);
    expect(await create()).toHaveStatus(201);

    await update('--plan', 'GROWTH');
    expect(await server.get('/offline-repairs', { key })).toFailWith(403, 'PLAN_REQUIRED');
    expect(await create()).toFailWith(403, 'PLAN_REQUIRED');

    await update('--plan', 'ENTERPRISE', '--subscription', 'inactive');
    expect(await create()).toFailWith(403, 'READ_ONLY');
    expect(await read()).toHaveStatus(200);

    await update('--subscription', 'active');
    expect(await create()).toHaveStatus(201);

    await cli(['client', 'revoke', clientId], env);
    expect(await read()).toHaveStatus(401);
    expect(await create()).toFailWith(401, 'UNAUTHENTICATED');
  });

  it('for a replaced client, whose waiting deliveries are sent with the new secret', async () => {
    const [old, next] = [await startReceiver(() => 500), await startReceiver()];
    const { env, server, client } = await startShop({ webhookUrl: old.url });
    const { body: repair } = await server.create();
    await old.got(1);
    const replacement = await cli(['client', 'replace', client.id, '--webhook-url', next.url], env);
    expect(await server.get('/offline-repairs')).toHaveStatus(401);
    const again = await server.get(`/offline-repairs/${repair.id}`, { key: replacement.apiKey });
    expect(again).toHaveStatus(200);
    const [sent] = await next.got(1);
    expect(sent?.body.data.id).toBe(repair.id);
    expect(sent?.headers['x-webhook-signature']).toBe(
      createHmac('sha256', replacement.webhookSecret)
        .update(sent?.bytes ?? '')
        .digest('hex'),
    );
    const seen = old.received.map(({ headers }) => headers['x-webhook-id']);
    expect(seen).toContain(sent?.headers['x-webhook-id']);
  });

  it('for an allowance and a usage cap, which are different', ONLY_SQLITE, async () => {
    const server = await harness();
    const { env } = server;
    const { shopId, key } = await makeShop(env, { allowance: 1 });
    const update = (...options: string[]) => cli(['shop', 'update', shopId, ...options], env);
    const create = () => server.post('/offline-repairs', repairBody(), { key });
    expect(await create()).toHaveStatus(201);
    expect(await create()).toFailWith(403, 'LIMIT_EXCEEDED');
    await update('--allowance', '2');
    expect(await create()).toHaveStatus(201);
    await update('--usage-cap', '2');
    expect(await create()).toFailWith(403, 'USAGE_CAP_EXCEEDED');
    await update('--usage-cap', 'none');
    expect(await create()).toHaveStatus(201);
  });

  it('for the last use of a client', ONLY_SQLITE, async () => {
    const { env, get } = await harness();
    const { shopId, key } = await makeShop(env);
    expect(await get('/offline-repairs', { key })).toHaveStatus(200);
    // Written after the response.
    const lastUsedAt = await until('the last use is written', async () => {
      const [client] = await cli(['client', 'list', '--shop', shopId], env);
      return client.lastUsedAt;
    });
    expect(Math.abs(Date.parse(lastUsedAt) - Date.now())).toBeLessThan(60_000);
  });
});

it('the database contains no plain key, webhook secret or password', ONLY_SQLITE, async () => {
  const { env, post } = await harness();
  const { shopId, clientId, key, webhookSecret } = await makeShop(env);
  const password = 'correct horse battery staple';
  const email = 'ada@example.com';
  const user = ['user', 'create', '--shop', shopId, '--email', email, '--role', 'ADMIN'];
  await cli(user, env, `${password}\n`);
  const demo = await cli(['demo'], env);
  expect(await post('/offline-repairs', repairBody(), { key })).toHaveStatus(201);
  await cli(['client', 'revoke', clientId], env);

  const stored = await databaseAsText(env);
  expect(stored).toContain(email);
  const secrets = [key, webhookSecret, password, demo.apiKey, demo.webhookSecret, demo.password];
  // Neither complete, nor without its prefix, nor in another encoding of the same bytes.
  const bare = secrets.map((secret) => secret.replace(/^(handback_ext_|whsec_)/, ''));
  const bytes = bare.filter((secret) => /^[0-9a-f]{48}$/.test(secret));
  const forms = [...secrets, ...bare, ...bytes.map((hex) => Buffer.from(hex, 'hex').toString('base64'))];
  expect(foundIn(stored, new Map(forms.map((form) => [form, 'a secret'])))).toEqual([]);
});
