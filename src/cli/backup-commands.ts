import type { Command } from 'commander';
import { readConfig } from '../service/config.ts';
import { command, print, progress } from './command.ts';
import type { Checked } from './doctor.ts';

/** They work on a database of any schema, and migrate none. */
export const addBackupCommands = (handback: Command): void => {
  command(handback, 'backup <file>', 'write everything into one signed file, while the service runs')
    .option('--overwrite', 'replace the file if it exists')
    .action(backUpTo);
  command(handback, 'restore <file>', 'fill an empty database of either engine from a backup')
    .option('--unsigned', 'also a file without a signature: only if you know who wrote it')
    .action(restoreFrom);
  command(
    handback,
    'doctor',
    'check settings, database, keys and counters; exit 1 if something is wrong',
  ).action(examineAll);
};

const megabytes = (bytes: number): string =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
const number = (count: number): string => count.toLocaleString('en');
const duration = (seconds: number): string =>
  seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;

const printTables = (tables: Record<string, number>, sentences: string[]): void => {
  const counted = Object.entries(tables).filter(([, rows]) => rows > 0);
  const width = Math.max(0, ...counted.map(([table]) => table.length));
  const lines = counted.map(([table, rows]) => `${table.padEnd(width)}  ${number(rows).padStart(12)}`);
  process.stdout.write(`${[...lines, ...sentences].join('\n')}\n`);
};

const notice = (message: string): void => void process.stderr.write(`handback: ${message}\n`);

const timed = async <Result>(work: Promise<Result>): Promise<Result & { seconds: number }> => {
  const start = performance.now();
  const result = await work;
  return { ...result, seconds: Math.round((performance.now() - start) / 10) / 100 };
};

const backUpTo = async (
  file: string,
  { overwrite, json }: { overwrite?: boolean; json?: boolean },
): Promise<void> => {
  const config = readConfig(process.env);
  const { backUp } = await import('./backup/backup.ts');
  const made = await timed(backUp(config, file, { overwrite, progress: progress(json), notice }));
  if (json) return print(made, true);
  const key = config.secretKeys ? 'SECRET_KEY' : `${config.dataDir}/secret.key`;
  printTables(made.tables, [
    `${number(made.rows)} rows in ${made.file}: ${megabytes(made.bytes)}, ${duration(made.seconds)}.`,
    `Keep ${key} as well, and in another place: it is not in the file, and a restore needs it for the signature, webhook secrets and second factors.`,
  ]);
};

const restoreFrom = async (
  file: string,
  { unsigned, json }: { unsigned?: boolean; json?: boolean },
): Promise<void> => {
  const config = readConfig(process.env);
  const { restore } = await import('./backup/restore.ts');
  const restored = await timed(restore(config, file, { unsigned, progress: progress(json), notice }));
  if (json) return print(restored, true);
  printTables(restored.tables, [
    `${number(restored.rows)} rows restored as they were at ${restored.madeAt}, and compared with the file row by row: ${duration(restored.seconds)}.`,
    'Everyone signs in again, and open invitations need a new link. API keys, cursors and webhooks go on.',
  ]);
};

/** Findings as they come; with `--json` all of them at the end. */
const examineAll = async ({ json }: { json?: boolean }): Promise<void> => {
  const { examine } = await import('./doctor.ts');
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
