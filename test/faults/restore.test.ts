import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { emptyOn, everyRow, isUntouched } from '../support/backups.ts';
import { cliHere } from '../support/commands-here.ts';
import { ENGINE } from '../support/harness.ts';
import { backupFile, failing } from '../support/made-backups.ts';
import { type Env, launch, lookInto, run } from '../support/process.ts';
import { makeShop } from '../support/shops.ts';
import { until } from '../support/until.ts';

const ROWS = 15_000;
const ROWS_AT_ONCE = 500;

/** So many rows that a restore can be caught in the middle. */
const fillAuditLog = async (env: Env): Promise<void> => {
  const db = lookInto(env);
  const { id } = await db.selectFrom('shops').select('id').executeTakeFirstOrThrow();
  const row = (n: number) => ({
    id: `019a8c1e-7a54-7cc1-9a3e-${String(n).padStart(12, '0')}`,
    shop_id: id,
    at: 1,
    actor_type: 'SYSTEM' as const,
    actor_name: 'x',
    action: 'x',
    subject_type: 'x',
    subject_id: id,
    subject_name: 'x',
    data: JSON.stringify('x'.repeat(1_000)),
  });
  for (let made = 0; made < ROWS; made += ROWS_AT_ONCE)
    await db
      .insertInto('audit_log')
      .values(Array.from({ length: ROWS_AT_ONCE }, (_, i) => row(made + i)) as never)
      .execute();
};

describe('a restore', () => {
  it('that is killed half-way leaves an empty database, into which it can be done again', async () => {
    const env = await emptyOn(ENGINE);
    await makeShop(env);
    await fillAuditLog(env);
    const file = backupFile();
    await cliHere(['backup', file], env);

    const target = await emptyOn(ENGINE);
    const db = lookInto(env);
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
    await until(
      'it can be restored again',
      async () => (await run(['restore', file, '--json'], target)).status === 0,
    );
    expect(await everyRow(target)).toEqual(await everyRow(env));
  });

  if (ENGINE === 'postgres')
    it('names the rows that PostgreSQL cannot take, and writes nothing', async () => {
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
    });
});
