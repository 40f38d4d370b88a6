import { execFileSync, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { freePort } from '../support/postgres-server.ts';
import { temporaryFolder } from '../support/process.ts';
import { hangUpHalfway, startReceiver } from '../support/receiver.ts';
import { start } from '../support/snippets.ts';
import { needs, type Tool, toolPath } from '../support/tools.ts';
import { scaled, until } from '../support/until.ts';
import { webhookHarness } from '../support/webhooks.ts';

// The receivers as their READMEs start them, with real deliveries of the service and with forged ones.

const recipe = (path: string) => fileURLToPath(new URL(`../../recipes/${path}`, import.meta.url));

interface Language {
  program: Tool;
  /** `kept`: the bodies that it stored, oldest first; `worked`: the output of its worker. */
  start(folder: string, port: number, secret: string): { kept(): string[]; worked(): string };
}

const LANGUAGES: Record<string, Language> = {
  Python: {
    program: 'python3',
    start(folder, port, secret) {
      const database = join(folder, 'inbox.sqlite');
      const args = [recipe('python-receiver/receiver.py'), String(port), database];
      const { stdout } = start(toolPath('python3'), args, folder, { HANDBACK_WEBHOOK_SECRET: secret });
      const query =
        'import json,sqlite3,sys; print(json.dumps([b for b, in sqlite3.connect(sys.argv[1]).execute("select body from inbox order by rowid")]))';
      const options = { encoding: 'utf8', timeout: scaled(30_000) } as const;
      return {
        kept: () => JSON.parse(execFileSync(toolPath('python3'), ['-c', query, database], options)),
        worked: () => stdout().replace(/^Listening.*\n/, ''),
      };
    },
  },
  PHP: {
    program: 'php',
    start(folder, port, secret) {
      const env = { HANDBACK_WEBHOOK_SECRET: secret, HANDBACK_INBOX: folder };
      const args = ['-S', `127.0.0.1:${port}`, recipe('php-receiver/receiver.php')];
      start(toolPath('php'), args, folder, env);
      const options = {
        timeout: scaled(30_000),
        env: { PATH: process.env['PATH'] ?? '', ...env },
        encoding: 'utf8',
      } as const;
      let printed = '';
      return {
        kept: () =>
          readdirSync(folder)
            .filter((name) => /\.json/.test(name))
            .sort()
            .map((name) => readFileSync(join(folder, name), 'utf8')),
        worked() {
          printed += execFileSync(toolPath('php'), [recipe('php-receiver/work.php')], options);
          return printed;
        },
      };
    },
  },
};

const startRecipe = async (language: Language, secret: string, port: number) => {
  const receiver = language.start(temporaryFolder(), port, secret);
  const url = `http://127.0.0.1:${port}/`;
  await until('it listens', () =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  );
  return { url, ...receiver };
};

it('the receiver in Python names no address that another program has', needs('python3'), async () => {
  const { port } = new URL((await startReceiver()).url);
  const args = [recipe('python-receiver/receiver.py'), port, join(temporaryFolder(), 'inbox.sqlite')];
  const env = { PATH: process.env['PATH'] ?? '', HANDBACK_WEBHOOK_SECRET: 'whsec_of-a-test' };
  const options = { env, timeout: scaled(30_000), encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(toolPath('python3'), args, options);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/Address already in use/);
});

for (const [name, language] of Object.entries(LANGUAGES))
  describe(`the receiver in ${name}`, needs(language.program), () => {
    it('accepts real deliveries and processes each', async () => {
      const t = await webhookHarness();
      // The secret is known once the client exists, and the client needs the address.
      const port = await freePort();
      const client = await t.addReceiver(`http://127.0.0.1:${port}/`);
      const { kept, worked } = await startRecipe(language, client.webhookSecret, port);

      const { id } = await t.create(client, {
        customerName: 'Zoë Ångström 👩‍🔧',
        notes: 'ligne 1\nligne 2 "citée"',
      });
      // One after the other: two at once may arrive in either order.
      await t.drained();
      await t.post(`/offline-repairs/${id}/begin-repair`, {}, { key: client.apiKey });
      await t.drained();
      const sent = await t.deliveries();
      expect(sent.map(({ status, attempts }) => ({ status, attempts }))).toEqual([
        { status: 'DELIVERED', attempts: 1 },
        { status: 'DELIVERED', attempts: 1 },
      ]);
      expect(kept()).toEqual(sent.map(({ body }) => body));
      const work =
        'offline_repair.created #RMA-000001 OFFLINE_DIAGNOSTICS\noffline_repair.status_changed #RMA-000001 OFFLINE_REPAIR\n';
      await until('both are worked on', () => worked() === work);
    });

    it('stores a repeated delivery once, and accepts a late one', async () => {
      const secret = 'whsec_of-a-test';
      const receiver = await startRecipe(language, secret, await freePort());
      // The bytes and the timestamp are the same at every attempt, and the last one may come a day after the change.
      const body = JSON.stringify({
        event: 'offline_repair.closed',
        timestamp: '2020-01-01T00:00:00.000Z',
        data: { id: 'x', rmaNumber: '#RMA-000007', status: 'OFFLINE_CLOSED' },
      });
      // The id is in a header, which is not signed: a copy may have another id.
      const deliver = () =>
        fetch(receiver.url, {
          method: 'POST',
          body,
          headers: {
            'content-type': 'application/json',
            'x-webhook-signature': createHmac('sha256', secret).update(body).digest('hex'),
            'x-webhook-id': newId(Date.now()),
          },
        });
      const together = await Promise.all([deliver(), deliver()]);
      const work = 'offline_repair.closed #RMA-000007 OFFLINE_CLOSED\n';
      await until('it is worked on', () => receiver.worked() === work);
      const later = await deliver();
      for (const response of [...together, later]) expect(response).toHaveStatus(204);
      expect(receiver.kept()).toEqual([body]);
      expect(receiver.worked()).toBe(work);
    });

    it('survives a caller that hangs up in the middle of a body', async () => {
      const port = await freePort();
      const receiver = await startRecipe(language, 'whsec_of-a-test', port);
      await hangUpHalfway(port);
      expect(await fetch(receiver.url, { method: 'POST', body: '{}' })).toHaveStatus(401);
      expect(receiver.kept()).toEqual([]);
    });

    it('refuses deliveries that are not signed with its secret, and stores nothing of them', async () => {
      const secret = 'whsec_of-a-test';
      const receiver = await startRecipe(language, secret, await freePort());
      const body = '{"event":"offline_repair.closed","data":{}}';
      const right = createHmac('sha256', secret).update(body).digest('hex');
      const deliver = (signature: string | null, sent = body) => {
        const headers = {
          ...(signature === null ? {} : { 'x-webhook-signature': signature }),
          'x-webhook-id': newId(Date.now()),
        };
        return fetch(receiver.url, { method: 'POST', body: sent, headers });
      };
      expect(await deliver(createHmac('sha256', 'whsec_other').update(body).digest('hex'))).toHaveStatus(401);
      expect(await deliver(right, `${body} `)).toHaveStatus(401);
      for (const other of [right.slice(1), right.toUpperCase(), `${right}zz`])
        expect(await deliver(other), other).toHaveStatus(401);
      expect(await deliver('ÿ')).toHaveStatus(401);
      expect(await deliver(null)).toHaveStatus(401);
      expect(await deliver(right), 'signed, and no event').toHaveStatus(400);
      expect(await deliver(right, 'x'.repeat(1024 * 1024 + 1))).toHaveStatus(413);
      expect(receiver.kept()).toEqual([]);
      expect(receiver.worked()).toBe('');
    });
  });
