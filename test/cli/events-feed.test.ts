import { expect, it } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { repairBody } from '../support/bodies.ts';
import { expectWithin } from '../support/faults.ts';
import { scaled } from '../support/machine.ts';
import { launch, migratedDatabase, startServer } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { addClient, makeShop } from '../support/shops.ts';
import { until } from '../support/until.ts';

// `events` as a developer has it: beside a service that runs, with its real feed.

it('prints what the feed has, and then each event as it happens', async () => {
  const env = await migratedDatabase();
  const { key } = await makeShop(env);
  const server = await startServer(env, { key });
  const { body: repair } = await server.post('/offline-repairs', repairBody());
  const follower = launch(['events', '--url', server.url, '--json'], { HANDBACK_API_KEY: key });
  const lines = () => follower.out.stdout.split('\n').filter(Boolean);
  await until('the first is printed', () => lines().length === 1, 20_000);
  await server.post(`/offline-repairs/${repair.id}/begin-repair`, { assignedToId: 'tech-12' });
  const doneAt = Date.now();
  await until('the second is printed', () => lines().length === 2);
  expectWithin(Date.now() - doneAt, 5_000);
  const { body: page } = await server.get(`${BASE_PATH}/events`, { key });
  expect(lines().map((line) => JSON.parse(line))).toEqual(page.items);
  follower.child.kill('SIGINT');
  expect(await follower.ended).toEqual({ status: 0, signal: null });
  expect(follower.out.stdout + follower.out.stderr).not.toContain(key);
});

it(
  'forwards what the webhooks were, to the byte, through restarts of both sides',
  async () => {
    const env = { ...(await migratedDatabase()), WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };
    const { shopId } = await makeShop(env);
    const [webhooks, forwarded] = [await startReceiver(), await startReceiver()];
    const client = await addClient(env, shopId, { webhookUrl: webhooks.url });
    let server = await startServer(env, { key: client.apiKey });
    const forward = (...args: string[]) =>
      launch(['events', '--url', server.url, '--forward-to', forwarded.url, ...args], {
        HANDBACK_API_KEY: client.apiKey,
        HANDBACK_WEBHOOK_SECRET: client.webhookSecret,
      });
    const change = async (customerName: string) => {
      const { body } = await server.post('/offline-repairs', repairBody({ customerName }));
      await server.post(`/offline-repairs/${body.id}/close`, {});
    };

    /** By id: a stop within a page sends some of its events once more. */
    const told = (received: typeof forwarded.received) =>
      new Map(
        received.map(({ bytes, headers }) => [
          headers['x-webhook-id'],
          {
            body: bytes.toString('utf8'),
            signature: headers['x-webhook-signature'],
            event: headers['x-webhook-event'],
          },
        ]),
      );
    const forwardedAll = (count: number) =>
      until(`${count} events were forwarded`, () => told(forwarded.received).size >= count, 60_000);

    await change('Zoë Ångström 👩‍🔧');
    const first = forward();
    await forwardedAll(2);
    await until('a page is done', () => first.out.stdout.split('\n').length === 3);
    first.child.kill('SIGINT');
    await first.ended;
    const [, cursor = ''] = /--after (\S+)\n$/.exec(first.out.stderr) ?? [];
    await change('While nothing forwards');
    const second = forward('--after', cursor);
    await forwardedAll(4);
    await server.stop();
    await until('it noticed', () => /trying again/.test(second.out.stderr), 40_000);
    server = await startServer({ ...env, PORT: String(server.port) }, { key: client.apiKey });
    await change('After a restart of the service');
    await forwardedAll(6);
    await webhooks.got(6, 20_000);

    expect(told(forwarded.received)).toEqual(told(webhooks.received));
    expect(told(forwarded.received).size).toBe(6);
  },
  scaled(180_000),
);

it('ends when the key is no key any more', async () => {
  const env = await migratedDatabase();
  await makeShop(env);
  const server = await startServer(env);
  const { out, ended } = launch(['events', '--url', server.url], { HANDBACK_API_KEY: 'handback_ext_none' });
  expect(await ended).toEqual({ status: 1, signal: null });
  expect(out.stderr).toMatch(/does not accept the key: A valid API key is needed/);
});
