import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/db/open.ts';
import { altered, emptyOn, everyRow, isUntouched } from '../support/backups.ts';
import { cliHere } from '../support/commands-here.ts';
import { ENGINE } from '../support/harness.ts';
import { backupFile, failing, restore, sharedBackup } from '../support/made-backups.ts';
import {
  cli,
  type Env,
  lookInto,
  migratedDatabase,
  run,
  SECRET_KEY,
  startServer,
} from '../support/process.ts';
import { makeShop } from '../support/shops.ts';
import { UNOBSERVED } from '../support/unobserved.ts';

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
    // As a program, this once.
    expect(await cli(['restore', file], target)).toMatchObject({ verified: true });
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

  it('a backup of a newer release, or of a pre-release version', async () => {
    const { file } = await backedUp();
    const target = await emptyOn(ENGINE);
    const newer = altered(file, `${file}.newer`, ({ head }) => ({
      head: head.replace('"],"keyChecks"', '","9999-future"],"keyChecks"'),
    }));
    expect(await failing(['restore', newer], target)).toMatch(/newer release/);
    const preRelease = altered(file, `${file}.pre-release`, ({ head }) => ({
      head: head.replace('0001-initial-schema', '0001-initial'),
    }));
    expect(await failing(['restore', preRelease], target)).toMatch(/pre-release version/);
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

/** Of the audit log. */
const lastAction = async (env: Env): Promise<string | undefined> =>
  (await lookInto(env).selectFrom('audit_log').select('action').orderBy('at', 'desc').executeTakeFirst())
    ?.action;

describe('a restore', () => {
  it('goes into a database that was started and left empty', async () => {
    const { env, file, key } = await backedUp();
    const target = await emptyOn(ENGINE);
    await (await startServer(target)).stop();
    await restore(file, target);
    expect(await everyRow(target)).toEqual(await everyRow(env));
    expect([await lastAction(env), await lastAction(target)]).toEqual(['BACKED_UP', 'RESTORED']);
    const server = await startServer(target, { key });
    expect((await server.get('/usage')).status).toBe(200);
    if (ENGINE === 'sqlite')
      expect(await failing(['restore', file], target)).toMatch(/another Handback serves from/);
  });

  if (ENGINE === 'sqlite')
    it('gives SQLite back what a damaged row holds', async () => {
      const [source, target] = [await emptyOn('sqlite'), await emptyOn('sqlite')];
      await makeShop(source);
      await sql`update shop_counters set last_number = 1.5, month = x'00ff'`.execute(lookInto(source));
      const file = backupFile();
      await cliHere(['backup', file], source);
      await restore(file, target);
      expect(await everyRow(target)).toEqual(await everyRow(source));
    });
});
