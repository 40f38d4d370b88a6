import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { migrateTo } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/open.ts';
import { SCHEMA_WORDS as postgresWords } from '../../src/db/postgres/schema-words.ts';
import { SCHEMA_WORDS as sqliteWords } from '../../src/db/sqlite/schema-words.ts';
import { UNKNOWN_ID } from '../support/api.ts';
import { altered, emptyOn, everyRow, isUntouched } from '../support/backups.ts';
import { cliHere } from '../support/commands-here.ts';
import { ENGINE } from '../support/harness.ts';
import { backupFile, failing, restore, sharedBackup } from '../support/made-backups.ts';
import {
  type Env,
  launch,
  lookInto,
  migratedDatabase,
  run,
  SECRET_KEY,
  startServer,
} from '../support/process.ts';
import { makeShop } from '../support/shops.ts';
import { UNOBSERVED } from '../support/unobserved.ts';
import { until } from '../support/until.ts';

const backedUp = sharedBackup();

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
