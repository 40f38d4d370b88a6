// engines: sqlite, postgres

import { describe, expect, it } from 'vitest';
import { secretBox } from '../../src/platform/secrets.ts';
import { factorColumn, sealFactor } from '../../src/staff/second-factor.ts';
import { webhookSecretColumn } from '../../src/webhooks/outbox.ts';
import { cliHere, runHere } from '../support/commands-here.ts';
import { emptyDatabase, lookInto, run, startServer } from '../support/process.ts';
import { addPerson, makeShop } from '../support/shops.ts';

const OLD = 'the key of the first years that is long enough';
const NEW = 'the key that takes its place and is long enough';
const keys = (...all: string[]) => ({ SECRET_KEY: all.join(',') });

describe('secrets reseal', () => {
  it('moves an installation from one key to the next while servers run', async () => {
    const env = { ...(await emptyDatabase()), ...keys(OLD) };
    const { clientId, webhookSecret, shopId } = await makeShop(env);
    const { email } = await addPerson(env, shopId);
    const user = await lookInto(env).selectFrom('users').select('id').executeTakeFirstOrThrow();
    const factor = sealFactor(secretBox([OLD]), user.id, Buffer.from('a second factor'));
    await lookInto(env)
      .updateTable('users')
      .set({ factor_secret: factor })
      .where('email', '=', email)
      .execute();
    const running = await startServer({ ...env, ...keys(OLD, NEW) });

    const both = { ...env, ...keys(NEW, OLD) };
    const late = await cliHere(
      ['client', 'create', '--shop', shopId, '--name', 'Sealed with the new one'],
      both,
    );
    expect(await cliHere(['secrets', 'reseal'], both)).toEqual({ resealed: 3, total: 4, failed: 0 });
    expect(await cliHere(['secrets', 'reseal'], both)).toEqual({ resealed: 0, total: 4, failed: 0 });
    expect(await running.isReady()).toBe(true);
    expect((await running.stop()).status).toBe(0);

    const refused = await run(['serve'], { ...env, PORT: '0' });
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(/^handback: SECRET_KEY [^\n]+\n$/);
    const server = await startServer({ ...env, ...keys(NEW) });
    expect(await server.isReady()).toBe(true);
    const rows = await lookInto(env).selectFrom('api_clients').select(['id', 'webhook_secret']).execute();
    const person = await lookInto(env).selectFrom('users').select('factor_secret').executeTakeFirstOrThrow();
    expect(secretBox([NEW]).open(person.factor_secret ?? '', factorColumn(user.id))).toBe(
      Buffer.from('a second factor').toString('base64'),
    );
    const secrets = rows.map((row) => [
      row.id,
      secretBox([NEW]).open(row.webhook_secret, webhookSecretColumn(row.id)),
    ]);
    expect(new Map(secrets as [string, string][])).toEqual(
      new Map([
        [clientId, webhookSecret],
        [late.id, late.webhookSecret],
      ]),
    );
  });

  it('names a row that cannot be opened, skips it, and reseals the others', async () => {
    const env = { ...(await emptyDatabase()), ...keys(OLD) };
    const { shopId, clientId } = await makeShop(env);
    const bad = await cliHere(['client', 'create', '--shop', shopId, '--name', 'Bad'], env);
    const copied = await cliHere(['client', 'create', '--shop', shopId, '--name', 'Copied'], env);
    const db = lookInto(env);
    const secretOf = async (id: string) =>
      (
        await db
          .selectFrom('api_clients')
          .select('webhook_secret')
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
      ).webhook_secret;
    const write = (id: string, webhook_secret: string) =>
      db.updateTable('api_clients').set({ webhook_secret }).where('id', '=', id).execute();
    await write(bad.id, 'nothing that anybody sealed');
    await write(copied.id, await secretOf(clientId));

    const { status, stderr, json } = await runHere(['secrets', 'reseal', '--json'], {
      ...env,
      ...keys(NEW, OLD),
    });
    expect({ status, json }).toEqual({ status: 1, json: { resealed: 2, total: 4, failed: 2 } });
    const lines = stderr.trim().split('\n');
    expect(lines).toHaveLength(2);
    for (const id of [bad.id, copied.id]) expect(stderr).toContain(id);
    expect(stderr).not.toContain('nothing that anybody sealed');
    expect(await secretOf(bad.id)).toBe('nothing that anybody sealed');
    expect(secretBox([NEW]).open(await secretOf(clientId), webhookSecretColumn(clientId))).toMatch(/^whsec_/);
  });
});
