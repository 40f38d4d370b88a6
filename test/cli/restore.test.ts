// engines: sqlite, postgres

import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import {
  altered,
  backupFile,
  emptyOn,
  everyRow,
  failing,
  forged,
  isUntouched,
  linesOf,
  restore,
  sharedBackup,
} from '../support/backups.ts';
import { cliHere } from '../support/commands-here.ts';
import { addMigration } from '../support/database.ts';
import { ONLY_POSTGRES, ONLY_SQLITE } from '../support/engines.ts';
import { ENGINE } from '../support/harness.ts';
import { type Env, lookInto, migratedDatabase, SECRET_KEY, startServer } from '../support/process.ts';
import { makeShop } from '../support/shops.ts';

const backedUp = sharedBackup();

describe('a restore refuses', () => {
  it('a database that is not empty', async () => {
    const { env, file } = await backedUp();
    const before = await everyRow(env);
    expect(await failing(['restore', file], env)).toMatch(/not empty/);
    expect(await everyRow(env)).toEqual(before);
    const started = { ...(await migratedDatabase()), SECRET_KEY };
    await sql`insert into sign_in_failures (key, failures, expires_at) values ('k', 1, 1)`.execute(
      lookInto(started),
    );
    expect(await failing(['restore', file], started)).toMatch(/not empty \(sign_in_failures\)/);
  });

  it('a missing or different key, before anything is written', async () => {
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
    const withHeader = (name: string, from: string, to: string) =>
      altered(
        file,
        `${file}.${name}`,
        ([header = '', ...lines]) => [header.replace(from, to), ...lines],
        SECRET_KEY,
      );
    const newer = withHeader('newer', '"],"keyChecks"', '","9999-future"],"keyChecks"');
    expect(await failing(['restore', newer], target)).toMatch(/newer release/);
    const preRelease = withHeader('pre-release', '0001-schema', '0001-initial-schema');
    expect(await failing(['restore', preRelease], target)).toMatch(/pre-release version/);
    const format = withHeader('format', '"format":1', '"format":2');
    expect(await failing(['restore', format], target)).toMatch(/format 2.*newer release/);
    expect(await isUntouched(target)).toBe(true);
  });

  it('a file that was edited, signed or not', async () => {
    const { file } = await backedUp();
    // The newest tables exist already, so that no refused restore has to create them.
    const target = { ...(await migratedDatabase()), SECRET_KEY };
    const replacing = (from: string, to: string) => (lines: string[]) =>
      lines.map((line) => line.replace(from, to));
    const changes: [change: (lines: string[]) => string[], about: RegExp][] = [
      [replacing('Test shop', 'Another one'), /rows do not match/],
      [(lines) => lines.filter((line) => !line.includes('Test shop')), /rows do not match/],
      [(lines) => lines.slice(0, -1), /no trailer/],
      [([header = '', , ...lines]) => [header, ...lines], /rows without a table/],
      [(lines) => [...lines, 'x'], /cannot be read/],
      [(lines) => [...lines, '["more"]'], /continues after its trailer/],
      [replacing('{"table":"shops"', '{"table":shops'), /cannot be read/],
      [
        forged('installation', (row) => row.replace('["secret-key-check"', '["secret-key-check')),
        /cannot be read/,
      ],
      [replacing('"shops"', '"kysely_migration"'), /schema lacks/],
      [replacing('"plan"', '"plan\\") values (1); drop table shops; --"'), /schema lacks/],
    ];
    for (const [i, [change, about]] of changes.entries())
      for (const [args, key] of [
        [[], SECRET_KEY],
        [['--unsigned'], null],
      ] as const) {
        const copy = altered(file, `${file}.${i}`, change, key);
        const line = await failing(['restore', copy, ...args], target);
        expect(line).toMatch(about);
        expect(line).not.toContain('Another one');
      }
    expect(await isUntouched(target)).toBe(true);
    expect(await restore(file, target)).toMatchObject({ verified: true });
  });

  it('a forged file, which has no signature or a wrong one', async () => {
    const { file } = await backedUp();
    const target = await emptyOn(ENGINE);
    const toAdmin = forged('users', (row) => row.replace('"STAFF"', '"ADMIN"').replace('@', '@evil.'));
    const unsigned = altered(file, `${file}.unsigned`, toAdmin);
    expect(await failing(['restore', unsigned], target)).toMatch(/has no signature/);
    const foreign = altered(file, `${file}.foreign`, toAdmin, 'a key of the forger that is long enough');
    expect(await failing(['restore', foreign], target)).toMatch(/signature does not match/);
    // A wrong signature is refused with --unsigned, too.
    expect(await failing(['restore', foreign, '--unsigned'], target)).toMatch(/signature does not match/);
    if (ENGINE === 'sqlite') expect(existsSync(target['DATA_DIR'] as string)).toBe(false);
    expect(await isUntouched(target)).toBe(true);
  });

  it('a decompression bomb, with little memory', async () => {
    const { file } = await backedUp();
    const target = await emptyOn(ENGINE);
    const [header, table] = linesOf(file);
    /** 400 MB of rows in 400 kB. */
    const inflate = (bytes: number, row: string) => {
      const rows = gzipSync(Buffer.alloc(bytes, row), { level: 9 });
      const parts = [gzipSync(`${header}\n${table}\n["`), ...Array(400e6 / bytes).fill(rows)];
      writeFileSync(file, Buffer.concat(parts));
    };
    // Each part has a gzip header of its own, which keeps it below the ratio.
    inflate(5e5, 'x');
    expect(await failing(['restore', file], target)).toMatch(/no signature/);
    const before = process.memoryUsage.rss();
    expect(await failing(['restore', file, '--unsigned'], target)).toMatch(/a line of more than 16 MB/);
    inflate(16e6, `["${'x'.repeat(999_995)}"]\n`);
    expect(await failing(['restore', file, '--unsigned'], target)).toMatch(/more than 1000 times its size/);
    expect(process.memoryUsage.rss() - before).toBeLessThan(150e6);
    expect(await isUntouched(target)).toBe(true);
  });
});

const lastAction = async (env: Env): Promise<string | undefined> =>
  (await lookInto(env).selectFrom('audit_log').select('action').orderBy('at', 'desc').executeTakeFirst())
    ?.action;

describe('a restore', () => {
  it('works into a database that was migrated and left empty', async () => {
    const { env, file, key } = await backedUp();
    const target = await emptyOn(ENGINE);
    await (await startServer(target)).stop();
    await restore(file, target);
    expect(await everyRow(target)).toEqual(await everyRow(env));
    expect([await lastAction(env), await lastAction(target)]).toEqual(['BACKED_UP', 'RESTORED']);
    const server = await startServer(target, { key });
    expect(await server.get('/usage')).toHaveStatus(200);
    if (ENGINE === 'sqlite')
      expect(await failing(['restore', file], target)).toMatch(/another Handback process is already using/);
  });

  it("migrates an older release's backup", async () => {
    const { file, key } = await backedUp();
    addMigration('0002-colour', async (db) => {
      await sql`alter table shops add column colour text default 'green'`.execute(db);
    });
    const target = await emptyOn(ENGINE);
    expect(await restore(file, target)).toMatchObject({ verified: true });
    const { rows } = await sql`select colour from shops`.execute(lookInto(target));
    expect(rows).toEqual([{ colour: 'green' }]);
    const server = await startServer(target, { key });
    expect(await server.get('/usage')).toHaveStatus(200);
  });

  it('works on another machine with the key file', ONLY_SQLITE, async () => {
    const { SECRET_KEY: _, ...source } = await emptyOn('sqlite');
    await makeShop(source);
    const file = backupFile();
    await cliHere(['backup', file], source);
    const { SECRET_KEY: __, ...target } = await emptyOn('sqlite');
    const folder = target['DATA_DIR'] as string;
    mkdirSync(folder);
    copyFileSync(join(source['DATA_DIR'] as string, 'secret.key'), join(folder, 'secret.key'));
    await restore(file, target);
    expect(await everyRow(target)).toEqual(await everyRow(source));
  });

  it('gives SQLite the content of a damaged row back', ONLY_SQLITE, async () => {
    const [source, target] = [await emptyOn('sqlite'), await emptyOn('sqlite')];
    await makeShop(source);
    await sql`update shop_counters set last_number = 1.5, month = x'00ff'`.execute(lookInto(source));
    const file = backupFile();
    await cliHere(['backup', file], source);
    await restore(file, target);
    expect(await everyRow(target)).toEqual(await everyRow(source));
  });

  it('refuses a damaged row that PostgreSQL takes and stores as something else', ONLY_POSTGRES, async () => {
    const source = await emptyOn('sqlite');
    await makeShop(source);
    await sql`update shops set name = x'00ff'`.execute(lookInto(source));
    const file = backupFile();
    await cliHere(['backup', file], source);
    const target = await emptyOn('postgres');
    expect(await failing(['restore', file], target)).toMatch(/shops does not match the backup/);
    expect(await isUntouched(target)).toBe(true);
  });
});
