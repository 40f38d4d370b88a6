// engines: sqlite, postgres

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { backupFile, emptyOn, failing, linesOf, sharedBackup } from '../support/backups.ts';
import { cliHere, runHere } from '../support/commands-here.ts';
import { ONLY_POSTGRES } from '../support/engines.ts';
import { ENGINE } from '../support/harness.ts';
import { fullAfter, launch, lookInto, run } from '../support/process.ts';
import { makeShop } from '../support/shops.ts';
import { until } from '../support/until.ts';

const backedUp = sharedBackup();

describe('a backup file', () => {
  it('is readable by its owner only, contains no plain secrets, and says what it is in its first line', async () => {
    const { env, secrets } = await backedUp();
    const file = backupFile();
    await cliHere(['backup', file], env);
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    const lines = linesOf(file);
    expect(JSON.parse(lines[0] as string)).toMatchObject({
      handback: 'backup',
      format: 1,
      engine: ENGINE,
      madeAt: expect.stringMatching(/Z$/),
    });
    expect(JSON.parse(lines.at(-1) as string).tables.shops).toEqual({ rows: 1, digest: expect.any(String) });
    const whole = lines.join('\n');
    expect(whole).toContain('"api_clients"');
    for (const secret of secrets) expect(whole).not.toContain(secret.replace(/^(handback_ext_|whsec_)/, ''));
    expect(whole).not.toMatch(/"table":"(sessions|access_links|webhook_leases|rate_limits)"/);
    expect(readdirSync(join(file, '..'))).toEqual(['handback.backup']);
  });

  it('is not overwritten unless requested', async () => {
    const { env, file } = await backedUp();
    const before = readFileSync(file);
    expect(await failing(['backup', file], env)).toMatch(/already exists.*--overwrite/);
    expect(readFileSync(file)).toEqual(before);
    await cliHere(['backup', file, '--overwrite'], env);
    expect(readFileSync(file)).not.toEqual(before);
    expect(readdirSync(join(file, '..'))).toEqual(['handback.backup']);
  });

  it('leaves nothing behind if it cannot be written, and the error is one line', async () => {
    const { env, file } = await backedUp();
    expect(await failing(['backup', join(file, 'x')], env)).toMatch(/cannot write .*not a folder/);
    expect(await failing(['backup', `${file}-missing/x`], env)).toMatch(/cannot write .*no such folder/);
    // SQLite itself needs disk space before the backup writes anything.
    if (ENGINE === 'postgres') {
      const limited = await run(['backup', `${file}2`, '--json'], env, { shell: fullAfter(1) });
      expect(limited.stderr).toMatch(/^handback: cannot write [^\n]+: the disk is full\n$/);
    }
    expect(readdirSync(join(file, '..'))).toEqual(['handback.backup']);
  });

  it(
    'stays unfinished if the command is killed, until the next backup removes it',
    ONLY_POSTGRES,
    async () => {
      const { env } = await backedUp();
      const file = backupFile();
      const files = () => readdirSync(join(file, '..'));
      await lookInto(env)
        .transaction()
        .execute(async (trx) => {
          await sql`lock table trade_returns in access exclusive mode`.execute(trx);
          const { child, ended } = launch(['backup', file], env);
          await until('it has begun the file', () => files().length === 1);
          child.kill('SIGKILL');
          await ended;
        });
      expect(files()).toEqual([expect.stringMatching(/^handback\.backup\..+\.part$/)]);
      await cliHere(['backup', file], env);
      expect(files()).toEqual(['handback.backup']);
    },
  );

  it('is refused for a database that is missing, not set up, or newer', async () => {
    const env = await emptyOn(ENGINE);
    expect(await failing(['backup', backupFile()], env)).toMatch(/no database|nothing to back up/);
    if (ENGINE === 'sqlite') expect(existsSync(env['DATA_DIR'] as string)).toBe(false);
    await makeShop(env);
    await sql`insert into kysely_migration (name, timestamp) values ('9999-future', '')`.execute(
      lookInto(env),
    );
    expect(await failing(['backup', backupFile()], env)).toMatch(/newer release.*9999-future/);
  });

  it("is not signed if the database's key is missing, and says so", async () => {
    const { env, file } = await backedUp();
    const other = { ...env, SECRET_KEY: 'another key that is long enough too' };
    const { status, stderr, json } = await runHere(['backup', file, '--overwrite', '--json'], other);
    expect([status, json.signed]).toEqual([0, false]);
    expect(stderr).toMatch(/^handback: the backup is not signed[^\n]+--unsigned[^\n]+\n$/);
    const target = await emptyOn(ENGINE);
    expect(await failing(['restore', file], target)).toMatch(/has no signature.*--unsigned/);
    expect(await cliHere(['restore', file, '--unsigned'], target)).toMatchObject({ verified: true });
  });

  it('comes with a message about what it contains and what else to keep', async () => {
    const { env, file } = await backedUp();
    // As programs, this once.
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
