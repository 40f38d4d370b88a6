import { createHmac } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isId } from '../../contract/common.ts';
import { WEBHOOK_EVENT_DATA, type WebhookEventName } from '../../contract/webhook-event.ts';
import { tradeBody } from '../support/bodies.ts';
import { cliHere as cli, runHere } from '../support/commands-here.ts';
import { freePort } from '../support/postgres-server.ts';
import { temporaryFolder } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { webhookHarness } from '../support/webhooks.ts';

const SECRET = 'whsec_of-a-test';
const EVENTS = Object.keys(WEBHOOK_EVENT_DATA) as WebhookEventName[];

describe('trigger', () => {
  it.each(EVENTS)('sends %s, signed, as the service would', async (event) => {
    const receiver = await startReceiver();
    const shown = await cli(['trigger', event, '--to', receiver.url, '--secret', SECRET], {});
    const [{ headers, bytes, body }] = (await receiver.got(1)) as [(typeof receiver.received)[0]];
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^Handback\/\d/),
      'x-webhook-signature': createHmac('sha256', SECRET).update(bytes).digest('hex'),
      'x-webhook-id': shown.id,
      'x-webhook-event': event,
      'x-webhook-attempt': '1',
    });
    expect(Object.keys(body)).toEqual(['event', 'timestamp', 'data']);
    expect(body.event).toBe(event);
    expect(Math.abs(Date.parse(body.timestamp) - Date.now())).toBeLessThan(60_000);
    // The data has every field of the schema and no others.
    expect(WEBHOOK_EVENT_DATA[event].parse(body.data)).toEqual(body.data);
    expect(isId(shown.id) && isId(body.data.id)).toBe(true);
    expect(shown).toMatchObject({
      event,
      to: receiver.url,
      signature: headers['x-webhook-signature'],
      body: bytes.toString('utf8'),
      statusCode: 200,
      error: null,
    });
  });

  it('sends the fields that a real event has', async () => {
    const t = await webhookHarness();
    const real = await startReceiver();
    const client = await t.addReceiver(real.url);
    await t.create(client);
    await t.post('/trade-returns', tradeBody(), { key: client.apiKey });
    const sample = await startReceiver();
    for (const { body } of await real.got(2)) {
      await cli(['trigger', body.event, '--to', sample.url, '--secret', SECRET], {});
      expect(Object.keys(sample.received.at(-1)?.body.data).sort()).toEqual(Object.keys(body.data).sort());
    }
  });

  it('prints what was sent and how the receiver responded', async () => {
    const receiver = await startReceiver((_n, response) => {
      response.writeHead(202).end('queued\u001b[31m as 17');
      return undefined;
    });
    const args = ['trigger', 'offline_repair.closed', '--to', receiver.url];
    const { status, stdout, stderr } = await runHere(args, { HANDBACK_WEBHOOK_SECRET: SECRET });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^event +offline_repair\.closed$/m);
    expect(stdout).toMatch(/^body +\{"event":"offline_repair\.closed",/m);
    expect(stdout).toMatch(/^statusCode +202$/m);
    expect(stdout).toMatch(/^response +queued \[31m as 17$/m);
    expect(stdout).not.toContain(SECRET);
  });

  it.each([401, 500, 302])('exits with status 1 if the receiver responds with %i', async (response) => {
    const receiver = await startReceiver(() => response);
    const args = ['trigger', 'trade_return.resolved', '--to', receiver.url, '--secret', SECRET, '--json'];
    const { status, json, stderr } = await runHere(args, {});
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `handback: the receiver responded with ${response}: only a 2xx acknowledges an event\n`,
    });
    expect(json).toMatchObject({ statusCode: response, error: null });
    expect(receiver.received).toHaveLength(1);
  });

  it('exits with status 1 if nothing listens, and changes no data', async () => {
    const folder = temporaryFolder();
    const to = `http://127.0.0.1:${await freePort()}/`;
    const { status, stdout, stderr } = await runHere(
      ['trigger', 'trade_return.resolved', '--to', to, '--secret', SECRET],
      // A command that opens a database would refuse these settings.
      { DATA_DIR: `${folder}/data`, DATABASE_URL: 'nowhere', LOG_LEVEL: 'loud' },
    );
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'handback: the receiver did not respond: connection refused (ECONNREFUSED)\n',
    });
    expect(stdout).toMatch(/^statusCode +-$/m);
    expect(readdirSync(folder)).toEqual([]);
  });
});
