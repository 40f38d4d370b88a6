import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { launch } from '../support/process.ts';
import { untilMatches } from '../support/until.ts';

const BODY = '{"event":"offline_repair.closed","data":{"id":"x"}}';

const listening = async (...args: string[]) => {
  const { out } = launch(['listen', '--port', '0', ...args], {});
  const [, port] = await untilMatches(() => out.stdout, /Listening on \S+:(\d+)/);
  const deliver = (signature: string, signal?: AbortSignal) =>
    fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body: BODY,
      headers: {
        'x-webhook-signature': signature,
        'x-webhook-event': 'offline_repair.closed',
        'x-webhook-attempt': '2',
      },
      ...(signal ? { signal } : {}),
    });
  return { out, deliver };
};

it('listen shows a delivery and says whether its signature is valid', async () => {
  const { out, deliver } = await listening('--secret', 'whsec_1');
  expect(await deliver(createHmac('sha256', 'whsec_1').update(BODY).digest('hex'))).toHaveStatus(200);
  await untilMatches(() => out.stdout, /signature {2}holds/);
  expect(out.stdout).toMatch(/offline_repair\.closed {2}attempt 2/);
  expect(out.stdout).toContain('"id": "x"');
  await deliver('00');
  await untilMatches(() => out.stdout, /DOES NOT HOLD/);
});

it('listen responds with the given status, or not at all', async () => {
  const refusing = await listening('--answer', '500');
  expect(await refusing.deliver('00')).toHaveStatus(500);
  const hanging = await listening('--hang');
  const gaveUp = new AbortController();
  const exchange = hanging.deliver('00', gaveUp.signal).catch((error: Error) => error.name);
  await untilMatches(() => hanging.out.stdout, /not at all/);
  gaveUp.abort();
  expect(await exchange).toBe('AbortError');
});
