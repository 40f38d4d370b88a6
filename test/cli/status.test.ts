// engines: sqlite, postgres

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { UNKNOWN_ID } from '../support/api.ts';
import { everyRow, failing } from '../support/backups.ts';
import { cliHere, runHere } from '../support/commands-here.ts';
import { addMigration } from '../support/database.ts';
import { addDeliveries, waitingDelivery } from '../support/delivery-rows.ts';
import { ENGINE } from '../support/harness.ts';
import {
  emptyDatabase,
  lookInto,
  migratedDatabase,
  SECRET_KEY,
  temporaryFolder,
} from '../support/process.ts';
import { makeShop } from '../support/shops.ts';

const DAY = 86_400_000;

describe('status', () => {
  it('shows queue, receivers, keys, backups and schema of all shops, and changes nothing', async () => {
    const env = { ...(await migratedDatabase()), SECRET_KEY };
    const webhookUrl = 'https://example.com/hook';
    const [failing, waiting, well] = [
      await makeShop(env, { webhookUrl }),
      await makeShop(env),
      await makeShop(env),
    ];
    // These two receive no more webhooks.
    const [revoked, withoutUrl] = [await makeShop(env, { webhookUrl }), await makeShop(env)];
    const db = lookInto(env);
    const nowMs = Date.now();
    const failure = { failed_attempts: 3, dropped_deliveries: 0, last_error: 'status \u001b[2J500' };
    await db
      .insertInto('webhook_failures')
      .values([
        { receiver_id: failing.clientId, since: nowMs - 1000, ...failure },
        { receiver_id: revoked.clientId, since: nowMs - DAY, ...failure },
        { receiver_id: withoutUrl.clientId, since: nowMs - DAY, ...failure },
      ])
      .execute();
    await db
      .updateTable('api_clients')
      .set({ revoked_at: nowMs })
      .where('id', '=', revoked.clientId)
      .execute();
    await addDeliveries({ ctx: { db } }, [
      waitingDelivery(waiting.clientId, nowMs - 600_000),
      waitingDelivery(waiting.clientId, nowMs),
    ]);
    const expires = (id: string, days: number) =>
      db
        .updateTable('api_clients')
        .set({ expires_at: nowMs + days * DAY })
        .where('id', '=', id)
        .execute();
    await expires(well.clientId, 29);
    await expires(failing.clientId, 31);
    const newest = { at: nowMs, file: 'handback-daily-x.backup', bytes: 1 };
    await db
      .insertInto('installation')
      .values({
        name: 'scheduled-backup',
        value: JSON.stringify({ due: 0, claimedAt: 0, doneAt: 1, error: null, newest }),
      })
      .execute();
    const before = await everyRow(env);

    const found = await cliHere(['status'], env);
    expect(found).toMatchObject({
      version: expect.any(String),
      schema: { newest: expect.stringMatching(/^\d{4}-/), missing: [] },
      queue: { waiting: 2, oldestSeconds: expect.any(Number) },
      leases: { count: 0, oldestHeldUntil: null },
      backup: { scheduled: false, file: newest.file, newestAt: new Date(nowMs).toISOString(), error: null },
      receivers: { count: 2 },
      keys: { count: 1, first: [{ id: well.clientId, expiresAt: expect.stringMatching(/Z$/) }] },
    });
    expect(found.receivers.first).toEqual([
      expect.objectContaining({ id: waiting.clientId, waiting: 2, failingSince: null, error: null }),
      expect.objectContaining({ id: failing.clientId, waiting: 0, error: 'status \u001b[2J500' }),
    ]);
    const { status, stdout, stderr } = await runHere(['status'], env);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^queue waiting +2$/m);
    expect(stdout).toMatch(new RegExp(`^${failing.clientId} .*status .*500`, 'm'));
    expect(stdout).not.toContain('\u001b');
    expect(await everyRow(env)).toEqual(before);
  });

  it('shows each effective setting and its source, and no secret', async () => {
    const env = await migratedDatabase();
    await makeShop(env);
    const file = join(temporaryFolder(), 'token');
    writeFileSync(file, 'a-token-in-a-file\n');
    const settings = {
      ...env,
      SECRET_KEY: 'only for this test and long enough for it',
      METRICS_TOKEN_FILE: file,
      SMTP_URL: 'smtps://user:smtp-password@mail.example.com',
      MAIL_FROM: 'returns@example.com',
      AUDIT_MONTHS: '12',
    };
    const { stdout, json } = await runHere(['status', '--json'], settings);
    for (const secret of [settings.SECRET_KEY, 'a-token-in-a-file', 'smtp-password'])
      expect(stdout).not.toContain(secret);
    const all = json.settings as { name: string; value: unknown; from: string }[];
    const of = Object.fromEntries(all.map(({ name, value, from }) => [name, [value, from]]));
    expect(of).toMatchObject({
      SECRET_KEY: ['(hidden)', 'environment'],
      METRICS_TOKEN: ['(hidden)', 'file'],
      SMTP_URL: ['(hidden)', 'environment'],
      AUDIT_MONTHS: ['12', 'environment'],
      PORT: [3000, 'default'],
      PUBLIC_URL: ['http://127.0.0.1:3000', 'default'],
      BACKUP_KEEP: [14, 'default'],
      DATABASE_POOLS: ['changes=6,lists=4,admin=3,scans=2,webhooks=3,reads=4', 'default'],
    });
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  });

  it('reads an older schema if it can, and says so if it cannot', async () => {
    const env = await migratedDatabase();
    addMigration('0002-colour', async (db) => {
      await sql`alter table shops add column colour text`.execute(db);
    });
    expect((await cliHere(['status'], env)).schema).toEqual({
      newest: '0001-schema',
      missing: ['0002-colour'],
    });
    await sql`drop table webhook_failures`.execute(lookInto(env));
    expect(await failing(['status'], env)).toMatch(
      /this database lacks the migration 0002-colour: .* handback migrate\n$/,
    );
  });

  it('and other commands neither create nor migrate a database', async () => {
    const env = await emptyDatabase();
    const isEmpty = async () =>
      ENGINE === 'sqlite'
        ? !existsSync(env['DATA_DIR'] as string)
        : (await lookInto(env).introspection.getTables()).length === 0;
    for (const command of [
      ...['status', 'shop list', 'user link a@example.com', 'demo', 'customer erasures'],
      `customer find --shop ${UNKNOWN_ID} --phone 12345`,
    ])
      expect(await failing(command.split(' '), env), command).toMatch(/there is no da|has not been set up/);
    expect(await isEmpty()).toBe(true);
  });
});
