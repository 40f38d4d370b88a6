import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { command } from './command.ts';
import type { Checked } from './doctor/doctor.ts';
import { print } from './output.ts';

/** Commands that keep an installation safe. They work on a database of any age, and migrate none. */
export const addBackupCommands = (handback: Command): void => {
  command(handback, 'backup <file>', 'write everything into one file, while the service runs')
    .option('--overwrite', 'replace the file if it is there')
    .action(backUpTo);
  command(handback, 'restore <file>', 'fill an empty database from a backup, of either engine').action(
    restoreFrom,
  );
  command(
    handback,
    'doctor',
    'check settings, database, keys and figures; exit 1 if something is wrong',
  ).action(examineAll);
};

const megabytes = (bytes: number): string =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
const number = (count: number): string => count.toLocaleString('en');
const duration = (seconds: number): string =>
  seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;

/** For people: one line a table that has rows, then what it came to. */
const printTables = (tables: Record<string, number>, sentences: string[]): void => {
  const counted = Object.entries(tables).filter(([, rows]) => rows > 0);
  const width = Math.max(0, ...counted.map(([table]) => table.length));
  const lines = counted.map(([table, rows]) => `${table.padEnd(width)}  ${number(rows).padStart(12)}`);
  process.stdout.write(`${[...lines, ...sentences].join('\n')}\n`);
};

const notice = (message: string): void => void process.stderr.write(`handback: ${message}\n`);

interface BackupOptions {
  overwrite?: boolean;
  json?: boolean;
}

const backUpTo = async (file: string, { overwrite, json }: BackupOptions): Promise<void> => {
  const config = readConfig(process.env);
  const [{ backUp }, { progress }] = await Promise.all([
    import('./backup/backup.ts'),
    import('./backup/progress.ts'),
  ]);
  const made = await backUp(config, file, { overwrite, progress: progress('reading', json), notice });
  if (json) return print({ ...made }, true);
  printTables(made.tables, [
    `${number(made.rows)} rows in ${made.file}: ${megabytes(made.bytes)}, ${duration(made.seconds)}.`,
    config.secretKeys
      ? 'Keep SECRET_KEY as well, and not beside it: it is not in the file, and without it webhook secrets and second factors are lost.'
      : `Keep ${config.dataDir}/secret.key as well, and not beside it: it is not in the file, and without it webhook secrets and second factors are lost.`,
  ]);
};

const restoreFrom = async (file: string, { json }: { json?: boolean }): Promise<void> => {
  const config = readConfig(process.env);
  const [{ restore }, { progress }] = await Promise.all([
    import('./backup/restore.ts'),
    import('./backup/progress.ts'),
  ]);
  const restored = await restore(config, file, { progress: progress('writing', json), notice });
  if (json) return print({ ...restored }, true);
  printTables(restored.tables, [
    `${number(restored.rows)} rows restored as they were at ${restored.madeAt}, and compared with the file row by row: ${duration(restored.seconds)}.`,
    'People sign in again, and links that wait for them are made anew. Keys, cursors and webhooks go on.',
  ]);
};

/** Findings as they come; with `--json` all of them at the end. */
const examineAll = async ({ json }: { json?: boolean }): Promise<void> => {
  const { examine } = await import('./doctor/doctor.ts');
  const checks: Checked[] = [];
  await examine(process.env, (checked) => {
    checks.push(checked);
    if (!json)
      process.stdout.write(`${checked.state.padEnd(5)}  ${checked.check.padEnd(10)}  ${checked.message}\n`);
  });
  const wrong = checks.filter(({ state }) => state === 'wrong').length;
  if (json) print({ ok: wrong === 0, checks }, true);
  if (wrong > 0) process.exitCode = 1;
};
