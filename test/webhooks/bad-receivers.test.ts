import { it } from 'vitest';
import { rawServer } from '../support/raw-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { webhookHarness } from '../support/webhooks.ts';

// What becomes of attempts at bad receivers is in test/faults/rows/07-hostile-receivers.test.ts.

it('a receiver that hangs with a backlog delays nobody else', async () => {
  const t = await webhookHarness({ sending: false });
  const hanging = await t.addReceiver(await rawServer(() => {}));
  for (let i = 0; i < 100; i++) await t.create(hanging);
  const others = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const receiver = await startReceiver();
      return { receiver, client: await t.addReceiver(receiver.url) };
    }),
  );
  await t.startSending();
  for (const { client } of others) for (let i = 0; i < 3; i++) await t.create(client);
  // Well before the first exchange with the hanging one can have ended.
  await Promise.all(others.map(({ receiver }) => receiver.got(3, 8_000)));
});
