import { statSync } from 'node:fs';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { readConfig } from '../../src/service/config.ts';
import { DIRECTIONS, emptyOn, everyRow } from '../support/backups.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { cliHere } from '../support/commands-here.ts';
import { FULL } from '../support/faults.ts';
import { ENGINE } from '../support/harness.ts';
import { backupFile } from '../support/made-backups.ts';
import { cli, lookInto, type ServerProcess, startServer } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { addClient, addPerson, makeShop } from '../support/shops.ts';
import { UNOBSERVED } from '../support/unobserved.ts';
import { until } from '../support/until.ts';

describe.each(DIRECTIONS)('a backup, from %s into %s', (from, to) => {
  /** Creates and moves until told to stop; keeps what was acknowledged. */
  const write = async (server: ServerProcess, isOver: () => boolean, acknowledged: string[]) => {
    while (!isOver()) {
      const { status, body } = await server.post('/offline-repairs', repairBody());
      expect(status).toBe(201);
      acknowledged.push(body.id);
      await server.post(`/offline-repairs/${body.id}/begin-repair`);
      await server.post('/trade-returns', tradeBody());
    }
  };

  const follow = async (server: ServerProcess, start: string): Promise<{ ids: string[]; cursor: string }> => {
    const ids: string[] = [];
    for (let cursor = start; ; ) {
      const { status, body } = await server.get(`/events?limit=50&after=${cursor}`);
      expect(status).toBe(200);
      ids.push(...body.items.map((item: { id: string }) => item.id));
      cursor = body.cursor;
      if (!body.hasMore) return { ids, cursor };
    }
  };

  // In the suites once on each engine.
  if (FULL || to === ENGINE)
    it('under load is of one moment, and goes on there: keys, cursors, webhooks and people', async () => {
      const allowed = { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };
      const source = { ...(await emptyOn(from)), ...allowed };
      const target = { ...(await emptyOn(to)), ...allowed };
      const { shopId, key } = await makeShop(source, { plan: 'ENTERPRISE' });
      const person = await addPerson(source, shopId);
      const receiver = await startReceiver(() => undefined);
      const hooked = await addClient(source, shopId, { name: 'Hooked', webhookUrl: receiver.url });
      const server = await startServer(source, { key });

      // A receiver that hangs: its webhook is still on its way when the backup is made.
      const told = await server.post('/offline-repairs', repairBody(), { key: hooked.apiKey });
      await receiver.got(1);
      const acknowledged: string[] = [];
      let isOver = false;
      const writers = Array.from({ length: 4 }, () => write(server, () => isOver, acknowledged));
      await until('something is written', () => acknowledged.length >= 20);
      const { body: page } = await server.get('/events?limit=7');
      const before = [...acknowledged];
      const file = backupFile();
      await cli(['backup', file], source);
      isOver = true;
      await Promise.all(writers);
      await server.stop('SIGKILL');

      await cli(['restore', file], target);
      const [there, here] = [await everyRow(source), await everyRow(target)];
      // What is written once stands there as it stood here.
      for (const table of ['events', 'timeline', 'shops', 'users', 'dangerous_goods', 'audit_log'] as const)
        expect(there[table]).toEqual(expect.arrayContaining(here[table] as string[]));
      const db = lookInto(target);
      const repairs = new Set(
        (await db.selectFrom('offline_repairs').select('id').execute()).map(({ id }) => id),
      );
      expect(before.filter((id) => !repairs.has(id))).toEqual([]);
      const events = await db.selectFrom('events').selectAll().orderBy('position').execute();
      expect(events.map(({ position }) => position)).toEqual(events.map((_, i) => i + 1));
      const { last_position } = await db
        .selectFrom('shop_counters')
        .select('last_position')
        .executeTakeFirstOrThrow();
      expect(last_position).toBe(events.length);
      const { ok, checks } = await cliHere(['doctor'], target);
      expect(ok, JSON.stringify(checks)).toBe(true);

      receiver.behave(() => 200);
      const restored = await startServer(target, { key });
      const sent = await until('the webhook has come', () =>
        receiver.received.slice(1).find(({ body }) => body.data.id === told.body.id),
      );
      expect(sent.bytes).toEqual(receiver.received[0]?.bytes);
      expect(sent.headers['x-webhook-id']).toBe(receiver.received[0]?.headers['x-webhook-id']);
      const rest = await follow(restored, page.cursor);
      expect(rest.ids).toEqual(events.slice(7).map(({ id }) => id));
      const next = await restored.post('/offline-repairs', repairBody());
      expect(next.status).toBe(201);
      expect((await follow(restored, rest.cursor)).ids).toHaveLength(1);
      const { status } = await restored.post('/admin/api/session', person, { key: null });
      expect(status).toBe(200);
    });

  it('keeps every value as it is', async () => {
    const [source, target] = [await emptyOn(from), await emptyOn(to)];
    const { shopId, clientId } = await makeShop(source);
    const texts = [
      '',
      ' ',
      'null',
      '{a,"b",NULL}',
      '\\x00',
      "it's",
      '"',
      '\\',
      '\u2028\u2029\r\n\t',
      '\u{1F9F0}é',
      '[1]',
      '{"a":"\\u0041"}',
    ];
    const database = openDatabase(readConfig(source), UNOBSERVED);
    onTestFinished(() => database.close());
    for (const pattern of texts)
      await database.db.insertInto('dangerous_goods').values({ shop_id: shopId, pattern }).execute();
    await sql`update shop_counters set last_number = 9223372036854775807, last_at = 9007199254740993, month_used = -1`.execute(
      database.db,
    );
    await sql`update api_clients set webhook_url = null, name = ${texts.join('')} where id = ${clientId}`.execute(
      database.db,
    );
    const file = backupFile();
    const made = await cliHere(['backup', file], source);
    expect(made).toMatchObject({ file, bytes: statSync(file).size, schema: expect.any(String) });
    const restored = await cliHere(['restore', file], target);
    expect(restored).toMatchObject({ rows: made.rows, tables: made.tables, verified: true });
    expect(made.tables).toMatchObject({ dangerous_goods: texts.length, shops: 1, offline_repairs: 0 });
    const rows = await everyRow(source);
    expect(await everyRow(target)).toEqual(rows);
    expect(rows['dangerous_goods']).toHaveLength(texts.length);
    const { rows: exact } =
      await sql`select '' || last_number as number, '' || last_at as at from shop_counters`.execute(
        lookInto(target),
      );
    expect(exact).toEqual([{ number: '9223372036854775807', at: '9007199254740993' }]);
  });
});
