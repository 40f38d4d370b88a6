import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { launch } from '../support/process.ts';
import { until } from '../support/until.ts';

const BODY = '{"event":"offline_repair.closed","data":{"id":"x"}}';

const listening = async (...args: string[]) => {
  const { out } = launch(['listen', '--port', '0', ...args], {});
  const [, port] = await until('it listens', () => /Listening on \S+:(\d+)/.exec(out.stdout));
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
  await until('it is shown', () => /signature {2}holds/.test(out.stdout));
  expect(out.stdout).toMatch(/offline_repair\.closed {2}attempt 2/);
  expect(out.stdout).toContain('"id": "x"');
  await deliver('00');
  await until('it is shown', () => /DOES NOT HOLD/.test(out.stdout));
});

it('listen responds with the given status, or not at all', async () => {
  const refusing = await listening('--answer', '500');
  expect(await refusing.deliver('00')).toHaveStatus(500);
  const hanging = await listening('--hang');
  const gaveUp = new AbortController();
  const exchange = hanging.deliver('00', gaveUp.signal).catch((error: Error) => error.name);
  await until('it is shown', () => /not at all/.test(hanging.out.stdout));
  gaveUp.abort();
  expect(await exchange).toBe('AbortError');
});
