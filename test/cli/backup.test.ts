import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { migrateTo } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/open.ts';
import { SCHEMA_WORDS as postgresWords } from '../../src/db/postgres/schema-words.ts';
import { SCHEMA_WORDS as sqliteWords } from '../../src/db/sqlite/schema-words.ts';
import { UNKNOWN_ID } from '../support/api.ts';
import { altered, contentOf, DIRECTIONS, emptyOn, everyRow, isUntouched } from '../support/backups.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { cliHere, runHere } from '../support/commands-here.ts';
import { newFolder } from '../support/folders.ts';
import { ENGINE, freshDatabase } from '../support/harness.ts';
import {
  cli,
  type Env,
  launch,
  lookInto,
  migratedDatabase,
  printed,
  run,
  SECRET_KEY,
  type ServerProcess,
  startServer,
  temporaryFolder,
} from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { addClient, addPerson, makeShop } from '../support/shops.ts';
import { UNOBSERVED } from '../support/unobserved.ts';
import { until } from '../support/until.ts';

const backupFile = (): string => join(temporaryFolder(), 'handback.backup');

/** A restore into SQLite holds its folder for as long as its process lives. */
const runsHere: typeof runHere = ENGINE === 'postgres' ? runHere : run;
const restore = (file: string, env: Env) => printed(runsHere, ['restore', file], env);

const failing = async (args: string[], env: Env, runs = runsHere): Promise<string> => {
  const { status, stdout, stderr } = await runs([...args, '--json'], env);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^handback: [^\n]+\n$/);
  return stderr;
};

interface BackedUp {
  env: Env;
  file: string;
  key: string;
  secrets: string[];
}

/** A database with a shop in it, and a backup of it. */
const backUp = async (env: Env): Promise<BackedUp> => {
  const { shopId, key, webhookSecret } = await makeShop(env);
  const { password } = await addPerson(env, shopId);
  const file = join(newFolder(), 'handback.backup');
  await cliHere(['backup', file], env);
  return { env, file, key, secrets: [key, webhookSecret, password] };
};

/** One for the tests that leave its database as it is. */
let shared: (BackedUp & { forget(): Promise<void> }) | null = null;
afterAll(() => shared?.forget());

const shareOne = async () => {
  const { env, drop } = await freshDatabase();
  const made = await backUp({ ...env, SECRET_KEY });
  const forget = async () => {
    rmSync(join(made.file, '..'), { recursive: true });
    await drop();
  };
  return { ...made, forget };
};

/** That database, and a copy of its backup. */
const backedUp = async (): Promise<BackedUp> => {
  shared ??= await shareOne();
  const { forget: _, ...made } = shared;
  const file = backupFile();
  copyFileSync(made.file, file);
  return { ...made, file };
};

describe.each(DIRECTIONS)('a backup under load, from %s into %s', (from, to) => {
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

  it('is of one moment, and goes on there: keys, cursors, webhooks and people', async () => {
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
    const { ok, checks } = await cli(['doctor'], target);
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
    const made = await cli(['backup', file], source);
    expect(made).toMatchObject({ file, bytes: statSync(file).size, schema: expect.any(String) });
    const restored = await cli(['restore', file], target);
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

describe('a backup file', () => {
  it('is for its owner alone, holds no secret in clear, and tells about itself in its first lines', async () => {
    const { env, secrets } = await backedUp();
    const file = backupFile();
    await cliHere(['backup', file], env);
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    expect(readFileSync(file, 'latin1')).toMatch(/^handback backup 1\n\{"service":/);
    const { head, lines } = contentOf(file);
    expect(JSON.parse(head.split('\n')[1] as string)).toMatchObject({
      engine: ENGINE,
      madeAt: expect.stringMatching(/Z$/),
    });
    const whole = head + lines.join('\n');
    expect(whole).toContain('"api_clients"');
    for (const secret of secrets) expect(whole).not.toContain(secret.replace(/^(handback_ext_|whsec_)/, ''));
    expect(whole).not.toMatch(/"table":"(sessions|access_links|webhook_leases|rate_limits)"/);
    expect(readdirSync(join(file, '..'))).toEqual(['handback.backup']);
  });

  it('is not overwritten unless that is asked for', async () => {
    const { env, file } = await backedUp();
    const before = readFileSync(file);
    expect(await failing(['backup', file], env, run)).toMatch(/is there already.*--overwrite/);
    expect(readFileSync(file)).toEqual(before);
    await cliHere(['backup', file, '--overwrite'], env);
    expect(readFileSync(file)).not.toEqual(before);
    expect(readdirSync(join(file, '..'))).toEqual(['handback.backup']);
  });

  it('that cannot be written is one line, and leaves nothing behind', async () => {
    const { env, file } = await backedUp();
    expect(await failing(['backup', join(file, 'x')], env)).toMatch(/cannot write .*not a folder/);
    expect(await failing(['backup', `${file}-missing/x`], env)).toMatch(/cannot write .*no such folder/);
    // SQLite needs room beside its own file before there is anything to write.
    if (ENGINE === 'postgres') {
      const limited = await run(['backup', `${file}2`, '--json'], env, { fileSizeLimit: 1 });
      expect(limited.stderr).toMatch(/^handback: cannot write [^\n]+: the disk is full\n$/);
    }
    expect(readdirSync(join(file, '..'))).toEqual(['handback.backup']);
  });

  it('is of a database that is there, has been set up, and is not newer', async () => {
    const env = await emptyOn(ENGINE);
    expect(await failing(['backup', backupFile()], env)).toMatch(/no database|nothing to back up/);
    if (ENGINE === 'sqlite') expect(existsSync(env['DATA_DIR'] as string)).toBe(false);
    await makeShop(env);
    await sql`insert into kysely_migration (name, timestamp) values ('9999-future', '')`.execute(
      lookInto(env),
    );
    expect(await failing(['backup', backupFile()], env)).toMatch(/newer release.*9999-future/);
  });

  it('tells people what it holds and what else to keep', async () => {
    const { env, file } = await backedUp();
    const { status, stdout, stderr } = await run(['backup', file, '--overwrite'], env);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^api_clients +1$/m);
    expect(stdout).toMatch(/^\d+ rows in \S+handback\.backup: \d+ kB, \d+\.\d s\.$/m);
    expect(stdout).toMatch(/SECRET_KEY/);
    const target = await emptyOn(ENGINE);
    const restored = await run(['restore', file], target);
    expect(restored).toMatchObject({ status: 0, stderr: '' });
    expect(restored.stdout).toMatch(/^\d+ rows restored as they were at \S+Z, .*row by row/m);
  });
});

describe('a restore refuses', () => {
  it('a file that is not to the bit what was written, and writes nothing', async () => {
    const { file } = await backedUp();
    const whole = readFileSync(file);
    const target = await emptyOn(ENGINE);
    const refused = async (bytes: Buffer) => {
      writeFileSync(file, bytes);
      expect(await failing(['restore', file], target)).toMatch(/damaged|not a backup|newer release/);
      if (ENGINE === 'sqlite') expect(existsSync(target['DATA_DIR'] as string)).toBe(false);
    };
    const flipped = Buffer.from(whole);
    flipped[whole.length >> 1] = (flipped[whole.length >> 1] as number) ^ 1;
    await refused(flipped);
    await refused(whole.subarray(0, whole.length >> 1));
    await refused(Buffer.concat([whole, Buffer.from('x')]));
    expect(await isUntouched(target)).toBe(true);
    writeFileSync(file, whole);
    expect(await restore(file, target)).toMatchObject({ verified: true });
  });

  it('a database that holds anything', async () => {
    const { env, file } = await backedUp();
    const before = await everyRow(env);
    expect(await failing(['restore', file], env)).toMatch(/not empty/);
    expect(await everyRow(env)).toEqual(before);
    const started = await emptyOn(ENGINE);
    await lookIntoMigrated(started, async (db) => {
      await sql`insert into sign_in_failures (key, failures, expires_at) values ('k', 1, 1)`.execute(db);
    });
    expect(await failing(['restore', file], started)).toMatch(/not empty \(sign_in_failures\)/);
  });

  it('to guess keys: another one, or none, is told before anything is written', async () => {
    const { file } = await backedUp();
    const target = await emptyOn(ENGINE);
    const other = { ...target, SECRET_KEY: 'another key that is long enough too' };
    expect(await failing(['restore', file], other)).toMatch(/SECRET_KEY does not hold the key/);
    if (ENGINE === 'sqlite') {
      const { SECRET_KEY: _, ...without } = target;
      expect(await failing(['restore', file], without)).toMatch(/secret\.key is missing/);
      expect(existsSync(target['DATA_DIR'] as string)).toBe(false);
    }
    expect(await isUntouched(target)).toBe(true);
    const both = { ...target, SECRET_KEY: `${other.SECRET_KEY},${target['SECRET_KEY']}` };
    expect(await restore(file, both)).toMatchObject({ verified: true });
  });

  it('a backup of a newer release', async () => {
    const { file } = await backedUp();
    const target = await emptyOn(ENGINE);
    const newer = altered(file, `${file}.newer`, ({ head }) => ({
      head: head.replace('"],"keyChecks"', '","9999-future"],"keyChecks"'),
    }));
    expect(await failing(['restore', newer], target)).toMatch(/newer release/);
    const format = altered(file, `${file}.format`, ({ head }) => ({
      head: head.replace('backup 1', 'backup 2'),
    }));
    expect(await failing(['restore', format], target)).toMatch(/format 2.*newer release/);
    expect(await isUntouched(target)).toBe(true);
  });

  it('what somebody changed by hand, checksum and all', async () => {
    const { file } = await backedUp();
    // With the newest tables already, so that each refusal need not make them first.
    const target = { ...(await migratedDatabase()), SECRET_KEY };
    const changes: [change: (lines: string[]) => string[], about: RegExp][] = [
      [
        (lines) => lines.map((line) => line.replace('"table":"shops"', '"table":"kysely_migration"')),
        /schema lacks/,
      ],
      [
        (lines) => lines.map((line) => line.replace('"plan"', '"plan\\") values (1); drop table shops; --"')),
        /schema lacks/,
      ],
      [
        (lines) => lines.map((line) => line.replace('Test shop', 'Another one')),
        /rows of shops are not those/,
      ],
      [
        (lines) => lines.filter((line) => !line.includes('Test shop')),
        /rows of shops are not those|all of its rows/,
      ],
      [
        (lines) => lines.map((line) => line.replace('["secret-key-check"', '["secret-key-check')),
        /cannot be read/,
      ],
      [(lines) => lines.slice(0, -1), /does not hold all of its rows/],
      [(lines) => lines.slice(1), /rows of no table/],
      [(lines) => [...lines, 'x'], /rows cannot be read/],
    ];
    for (const [i, [change, about]] of changes.entries()) {
      const copy = altered(file, `${file}.${i}`, ({ lines }) => ({ lines: change(lines) }));
      const line = await failing(['restore', copy], target);
      expect(line).toMatch(about);
      expect(line).not.toContain('Another one');
    }
    expect(await isUntouched(target)).toBe(true);
    expect(await restore(file, target)).toMatchObject({ verified: true });
  });

  it('what is no backup', async () => {
    const { file, env } = await backedUp();
    writeFileSync(file, 'handback backup 1\n{}\n');
    expect(await failing(['restore', file], env, run)).toMatch(/damaged/);
    writeFileSync(file, 'han');
    expect(await failing(['restore', file], env)).toMatch(/not a backup/);
  });
});

/** Brings the schema up to date, as a start would, and does something with it. */
const lookIntoMigrated = async (
  env: Env,
  work: (db: ReturnType<typeof lookInto>) => Promise<void>,
): Promise<void> => {
  const database = openDatabase(readConfig(env), UNOBSERVED);
  try {
    await database.migrate();
    await work(database.db);
  } finally {
    await database.close();
  }
};

describe('a restore', () => {
  it('goes into a database that was started and left empty', async () => {
    const { env, file, key } = await backedUp();
    const target = await emptyOn(ENGINE);
    await (await startServer(target)).stop();
    await restore(file, target);
    expect(await everyRow(target)).toEqual(await everyRow(env));
    const server = await startServer(target, { key });
    expect((await server.get('/usage')).status).toBe(200);
    if (ENGINE === 'sqlite')
      expect(await failing(['restore', file], target)).toMatch(/another Handback serves from/);
  });

  it.each(['without tables', 'with the newest ones'])(
    'brings a backup of an older schema up to date, in a database %s',
    async (kind) => {
      const [source, target] = [await emptyOn(ENGINE), await emptyOn(ENGINE)];
      const words = { ...(ENGINE === 'postgres' ? postgresWords : sqliteWords), notice: () => {} };
      const db = lookInto(source);
      await migrateTo(db, words, '0009-events');
      await sql`insert into shops (id, name, plan, subscription, created_at, updated_at)
        values (${UNKNOWN_ID}, 'Old', 'SCALE', 'active', 1, 1)`.execute(db);
      await sql`insert into offline_repairs (id, shop_id, number, status, order_number, customer_email, customer_name, customer_phone,
        faulty_item, fault_description, store_id, is_dangerous, external_ref, search_text, created_at, updated_at)
        values (${UNKNOWN_ID}, ${UNKNOWN_ID}, 1, 'OFFLINE_REPAIR', 'SO-1', 'a@example.com', 'Ada', '+44 20', '{}', 'x', 's', 0,
        'POS-88213', '#rma-000001', 1, 5)`.execute(db);
      const file = backupFile();
      expect(await cliHere(['backup', file], source)).toMatchObject({ schema: '0009-events', rows: 2 });
      if (kind === 'with the newest ones') await lookIntoMigrated(target, async () => {});
      await restore(file, target);
      await lookIntoMigrated(source, async () => {});
      const rows = await everyRow(target);
      expect(rows).toEqual(await everyRow(source));
      expect(rows['offline_repairs']?.[0]).toContain('#rma-000001 pos-88213 +44 20 4420');
    },
  );

  it('that is killed half-way leaves an empty database, into which it can be done again', async () => {
    const env = await emptyOn(ENGINE);
    await makeShop(env);
    const file = backupFile();
    const db = lookInto(env);
    const { id } = await db.selectFrom('shops').select('id').executeTakeFirstOrThrow();
    const body = 'x'.repeat(1_000);
    const digits = (from: string) =>
      `select 0 as ${from} union all select 1 union all select 2 union all select 3 union all select 4`;
    const five = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `(${digits(name)}) as of_${name}`).join();
    const place = '(a + 5 * b + 25 * c + 125 * d + 625 * e + 3125 * f)';
    await sql`insert into audit_log (id, shop_id, at, actor_type, actor_name, action, subject_type, subject_id, subject_name, data)
      select ${sql.raw(ENGINE === 'postgres' ? `('019a8c1e-7a54-7cc1-9a3e-' || lpad(${place}::text, 12, '0'))::uuid` : `printf('019a8c1e-7a54-7cc1-9a3e-%012d', ${place})`)},
        ${id}, 1, 'SYSTEM', 'x', 'x', 'x', ${id}, 'x', ${body} from ${sql.raw(five)}`.execute(db);
    await cliHere(['backup', file], env);

    const target = await emptyOn(ENGINE);
    const wal = join(target['DATA_DIR'] ?? '', 'handback.sqlite-wal');
    const isHalfWay = async () => {
      if (ENGINE === 'sqlite') return existsSync(wal) && statSync(wal).size > 1_000_000;
      const { rows } =
        await sql`select 1 from pg_stat_activity where datname = ${new URL(target['DATABASE_URL'] as string).pathname.slice(1)}
        and query like 'insert into "audit_log"%'`.execute(db);
      return rows.length > 0;
    };
    const restoring = launch(['restore', file, '--json'], target);
    await until('rows are being written', isHalfWay);
    restoring.child.kill('SIGKILL');
    expect((await restoring.ended).signal).toBe('SIGKILL');
    expect(restoring.out.stdout).toBe('');
    expect(await isUntouched(target)).toBe(true);
    // The server notices the death of the other side when it next writes to it.
    for (let tries = 0; ; tries++) {
      const { status, stderr } = await run(['restore', file, '--json'], target);
      if (status === 0) break;
      expect(tries, stderr).toBeLessThan(5);
      await pause(100);
    }
    expect(await everyRow(target)).toEqual(await everyRow(env));
  });

  it.runIf(ENGINE === 'postgres')(
    'names the rows that PostgreSQL cannot take, and writes nothing',
    async () => {
      const source = await emptyOn('sqlite');
      await makeShop(source);
      await sql`update shop_counters set last_number = 'many'`.execute(lookInto(source));
      const file = backupFile();
      await cliHere(['backup', file], source);
      const target = await emptyOn('postgres');
      const line = await failing(['restore', file], target);
      expect(line).toMatch(/rows 1 to 1 of shop_counters cannot be written: 22P02/);
      expect(line).not.toContain('many');
      expect(await isUntouched(target)).toBe(true);
    },
  );

  it.runIf(ENGINE === 'sqlite')('gives SQLite back what a damaged row holds', async () => {
    const [source, target] = [await emptyOn('sqlite'), await emptyOn('sqlite')];
    await makeShop(source);
    await sql`update shop_counters set last_number = 1.5, month = x'00ff'`.execute(lookInto(source));
    const file = backupFile();
    await cliHere(['backup', file], source);
    await restore(file, target);
    expect(await everyRow(target)).toEqual(await everyRow(source));
  });
});
