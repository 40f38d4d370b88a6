import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { recordForAllShops } from '../audit/store.ts';
import {
  BackupFile,
  type BackupTable,
  decodeRow,
  encodeRow,
  RowsDigest,
  withCleanUp,
} from '../backup/backup-file.ts';
import { OWN_MARK, removeLeftBehind } from '../backup/left-behind.ts';
import { forgetSchedule } from '../backup/schedule.ts';
import { type RowCounts, takeBackup } from '../backup/take-backup.ts';
import { describeDatabaseError, isLockTimeout } from '../db/database-errors.ts';
import { saveFact } from '../db/installation-facts.ts';
import { unknownMigration } from '../db/migrate.ts';
import { lockDatabase, openDatabase } from '../db/open.ts';
import { TABLE_NAMES } from '../db/schema.ts';
import { BACKED_UP_TABLES, type Filling, fillDatabase, WRITTEN_BY_A_START } from '../db/transfer.ts';
import type { ListedErasure } from '../personal-data/erasures.ts';
import { type Config, readConfig, recipients } from '../platform/config.ts';
import { keysOf, mustOpenKeyChecks } from '../platform/secrets.ts';
import { CliFailure, cannot, explainStartFailure } from '../platform/start-failure.ts';
import { notice, Progress, print, withContext } from './command.ts';
import { addConfirmed, applyErasures, readErasureList, summaryOf } from './commands.ts';

// The commands `backup` and `restore` work on a database of any schema, and migrate only the one that is restored into.

export const backUp = async (
  path: string,
  { overwrite, recipient, json }: { overwrite?: boolean; recipient?: string; json?: boolean },
): Promise<void> => {
  const start = performance.now();
  const config = readConfig(process.env);
  const progress = new Progress(json);
  const backup = await takeBackup(config, path, {
    overwrite,
    recipients: recipient === undefined ? config.backupRecipients : recipients('--recipient', recipient),
    onRow: (table, rows) => progress.show(`reading ${table}`, rows),
  });
  progress.end();
  if (!backup.signed)
    notice(
      'the backup is not signed, because the key of this database is not here: only restore --unsigned accepts it',
    );
  await recordBackup(config);
  const seconds = secondsSince(start);
  if (json) return print({ ...backup, seconds }, true);
  const key = config.secretKeys ? 'SECRET_KEY' : `${config.dataDir}/secret.key`;
  const identity = backup.encrypted ? ' The age identity that decrypts the file is not in it either.' : '';
  printTables(backup.tables, [
    `${formatCount(backup.rows)} rows in ${path}: ${formatBytes(backup.bytes)}, ${formatDuration(seconds)}.`,
    `Keep ${key} as well, and in another place: it is not in the file, and a restore needs it for the signature, webhook secrets and second factors.${identity}`,
  ]);
};

/** A failure is only a notice, since the backup is complete: a standby or another schema does not accept the entry. */
const recordBackup = async (config: Config): Promise<void> => {
  const database = openDatabase(config, { onQuery: () => {}, onDatabaseError: () => {} });
  try {
    await recordForAllShops(database.db, { at: Date.now(), action: 'BACKED_UP', data: {} });
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    notice(`the backup is complete, but could not be recorded in the audit log (${why})`);
  } finally {
    await database.close();
  }
};

// --- restore ---

interface RestoreOptions {
  unsigned?: boolean;
  unsignedList?: boolean;
  erasures?: string;
  identity?: string;
  check?: boolean;
  confirm?: boolean;
  json?: boolean;
}

/** Fills an empty database from a backup in one transaction. It restores all rows, compared one by one, or nothing. */
export const restore = async (path: string, options: RestoreOptions): Promise<void> => {
  const { erasures, json, check } = options;
  const start = performance.now();
  const config = readConfig(process.env);
  const list =
    erasures === undefined
      ? null
      : await readErasureList(erasures, () => keysOf(config), options.unsignedList);
  // A check restores into a temporary folder (TMPDIR) that only this user can read, and deletes it.
  const folder = check && (await newCheckFolder());
  const target = folder ? { ...config, databaseUrl: null, dataDir: folder } : config;
  const removeFolder = () => folder && rmSync(folder, { recursive: true, force: true });
  const { madeAt, tables, deletes } = await withCleanUp(removeFolder, () =>
    restoreInto(target, config, path, options, list).catch(folder ? blameTmpdir : rethrow),
  );
  const erased = list &&
    !check && { ...summaryOf(list), ...(await withContext(config, applyErasures)), deletes };
  const seconds = secondsSince(start);
  const rows = tables.reduce((sum, { digest }) => sum + digest.rows, 0);
  const counts: RowCounts = Object.fromEntries(tables.map(({ table, digest }) => [table, digest.rows]));
  const result = { file: path, madeAt, rows, tables: counts, verified: true, erasures: erased, seconds };
  if (json) return print({ ...result, ...(check && { restored: false }) }, true);
  if (check)
    return printTables(counts, [
      `${formatCount(rows)} rows were restored into a temporary database as they were at ${madeAt}, compared with the file row by row and deleted again: ${formatDuration(seconds)}.`,
    ]);
  printTables(counts, [
    `${formatCount(rows)} rows restored as they were at ${madeAt}, and compared with the file row by row: ${formatDuration(seconds)}.`,
    'Everyone must sign in again, and open invitations need a new link. API keys, cursors and webhooks continue to work.',
    `Access that was withdrawn after ${madeAt} is back: keys that were revoked or replaced, people who were removed or lost a role, and old second factors and passwords. Withdraw it again before the service starts.`,
    erased
      ? `${formatCount(erased.applied)} erasures of ${erasures} were applied (the newest is of ${erased.newest ?? 'no time'}); ${formatCount(erased.unknown)} more refer to returns that are not in the backup.`
      : 'Data erased since the backup is back: apply the newest list with handback customer erasures --apply FILE.',
  ]);
};

const rethrow = (error: unknown): never => {
  throw error;
};

/** Names TMPDIR instead of DATA_DIR in an error, since the failed database is the temporary one. */
const blameTmpdir = (error: unknown): never => {
  const words = explainStartFailure(error);
  throw words.includes('DATA_DIR') ? new CliFailure(words.replace('DATA_DIR', 'TMPDIR')) : error;
};

const newCheckFolder = async (): Promise<string> => {
  const folder = tmpdir();
  // A killed check leaves decrypted data of customers behind.
  await removeLeftBehind(folder, /^handback-check-/);
  const path = join(folder, `handback-check-${OWN_MARK}-`);
  return mkdtemp(path).catch((error) => cannot('write', `${folder} (TMPDIR)`, error));
};

/** Restores into `target`. The keys are always those of the installation, even for a temporary database. */
const restoreInto = async (
  target: Config,
  keys: Config,
  path: string,
  { unsigned, identity, confirm = false, json }: RestoreOptions,
  list: ListedErasure[] | null,
): Promise<{ madeAt: string; tables: BackupTable[]; deletes: string[] }> => {
  const progress = new Progress(json);
  const backup = await BackupFile.open(path, identity);
  const { header } = backup;
  const { madeAt, service, migrations } = header;
  let release = () => {};
  let deletes: string[] = [];
  try {
    const unknown = unknownMigration(migrations);
    if (unknown)
      throw new CliFailure(
        `${path} was written by ${unknown.by} (${service}), whose schema this one does not know: use that one`,
      );
    mustOpenKeyChecks(keys, header.keyChecks);
    const tables = await backup.check(() => keysOf(keys), unsigned);
    ({ release } = lockDatabase(target));
    await fillDatabase(target, notice, async (filling) => {
      await prepareSchema(filling, migrations);
      await requireKnownColumns(filling, tables);
      await loadRows(filling, backup, progress);
      await compareRows(filling, tables, progress);
      await filling.migrateTo(null);
      await forgetSchedule(filling.db);
      const at = Date.now();
      await recordForAllShops(filling.db, { at, action: 'RESTORED', data: { madeAt } });
      await saveFact(filling.db, 'restored', JSON.stringify({ at, madeAt }));
      if (list) deletes = await addConfirmed(filling.db, list, confirm);
      else await saveFact(filling.db, 'restored-without-erasures', String(Date.now()));
    });
    return { madeAt, tables, deletes };
  } finally {
    release();
    await backup.close();
    progress.end();
  }
};

/** Gives the database the schema of the backup. Throws if it contains a row already. */
const prepareSchema = async (filling: Filling, migrations: string[]): Promise<void> => {
  const known = await filling.tables();
  const ours = TABLE_NAMES.filter((table) => known.has(table));
  const applied = await filling.migrations();
  if (applied.some((name, i) => migrations[i] !== name))
    throw new CliFailure('this database has a different schema than the backup: use an empty one');
  if (applied.length === 0 && ours.length > 0)
    throw new CliFailure(`this database has tables of another program (${ours[0]}): use an empty one`);
  await filling.lock(ours).catch((error) => {
    throw isLockTimeout(error)
      ? new CliFailure('another process is using this database: stop the services first')
      : error;
  });
  for (const table of ours)
    if (table !== WRITTEN_BY_A_START && (await hasRows(filling, table)))
      throw new CliFailure(
        `this database is not empty (${table}): a backup is restored into an empty one only`,
      );
  await filling.migrateTo(migrations.at(-1) ?? null);
  await filling.db.deleteFrom(WRITTEN_BY_A_START).execute();
};

const hasRows = async ({ db }: Filling, table: string): Promise<boolean> =>
  (await sql`select 1 from ${sql.table(table)} limit 1`.execute(db)).rows.length > 0;

/** Only names of the schema are accepted, because the names become part of statements. */
const requireKnownColumns = async (filling: Filling, tables: BackupTable[]): Promise<void> => {
  const known = await filling.tables();
  for (const { table, columns } of tables)
    if (!BACKED_UP_TABLES.includes(table) || columns.some((column) => !known.get(table)?.includes(column)))
      throw new CliFailure(`the backup has a table or column that its schema lacks (${table})`);
};

const loadRows = async (filling: Filling, backup: BackupFile, progress: Progress): Promise<void> => {
  const written = new Map<string, number>();
  for await (const { table, columns, lines } of backup.batches()) {
    if (lines.length === 0) continue;
    const before = written.get(table) ?? 0;
    const after = before + lines.length;
    try {
      await filling.insert(table, columns, lines.map(decodeRow));
    } catch (error) {
      const isUnreadable = error instanceof SyntaxError || error instanceof RangeError;
      const problem = describeDatabaseError(error);
      if (!problem && !isUnreadable) throw error;
      // A row of SQLite may be damaged. The message of the database or of the parser is not shown, since it may quote the row.
      const words = problem?.reason ?? [problem?.code, problem?.constraint].filter(Boolean).join(' ');
      const why = words || 'they cannot be read';
      throw new CliFailure(
        `rows ${before + 1} to ${after} of ${table} cannot be written: ${why}; nothing was restored`,
      );
    }
    written.set(table, after);
    progress.show(`writing ${table}`, after);
  }
};

const compareRows = async (filling: Filling, tables: BackupTable[], progress: Progress): Promise<void> => {
  for (const { table, columns, digest } of tables) {
    const found = new RowsDigest();
    for await (const row of filling.rows(table, columns)) {
      found.add(encodeRow(row));
      progress.show(`comparing ${table}`, found.rows);
    }
    if (!isDeepStrictEqual(found.value, digest.value))
      throw new CliFailure(`${table} does not match the backup: nothing was restored`);
  }
};

// --- printing ---

const secondsSince = (start: number): number => Math.round((performance.now() - start) / 10) / 100;
const formatBytes = (bytes: number): string =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
const formatCount = (count: number): string => count.toLocaleString('en');
const formatDuration = (seconds: number): string =>
  seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;

const printTables = (tables: RowCounts, sentences: string[]): void => {
  const counted = Object.entries(tables).filter(([, rows]) => rows > 0);
  const width = Math.max(0, ...counted.map(([table]) => table.length));
  const lines = counted.map(([table, rows]) => `${table.padEnd(width)}  ${formatCount(rows).padStart(12)}`);
  process.stdout.write(`${[...lines, ...sentences].join('\n')}\n`);
};
