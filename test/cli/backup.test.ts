import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { contentOf, emptyOn } from '../support/backups.ts';
import { cliHere } from '../support/commands-here.ts';
import { ENGINE } from '../support/harness.ts';
import { backupFile, failing, sharedBackup } from '../support/made-backups.ts';
import { lookInto, run } from '../support/process.ts';
import { makeShop } from '../support/shops.ts';

const backedUp = sharedBackup();

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
