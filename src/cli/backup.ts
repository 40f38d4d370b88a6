import { recordForAllShops } from '../audit/store.ts';
import { describeDatabaseError, isLockTimeout } from '../db/database-errors.ts';
import { saveFact } from '../db/installation-facts.ts';
import { unknownMigration } from '../db/migrate.ts';
import { lockDatabase, openDatabase } from '../db/open.ts';
import { TABLE_NAMES } from '../db/schema.ts';
import {
  BACKED_UP_TABLES,
  type Filling,
  fillingOf,
  type Reading,
  snapshotOf,
  type Value,
  WRITTEN_BY_A_START,
} from '../db/transfer.ts';
import { toIso } from '../lib/time.ts';
import { addErasures } from '../personal-data/erasures.ts';
import { type Config, readConfig, VERSION } from '../service/config.ts';
import { backupKeys, keysOf, mustOpenKeyChecks } from '../service/secrets.ts';
import {
  BackupFile,
  type BackupTable,
  type Header,
  headerLine,
  RowsDigest,
  refuseExisting,
  rowFrom,
  rowLine,
  tableLine,
  trailerLine,
  writeBackup,
  writeWhole,
} from './backup-file.ts';
import { CliFailure, notice, Progress, print, withContext } from './command.ts';
import { applyErasures, readErasureList } from './customer-commands.ts';

// `backup` and `restore`. They work on a database of any schema, and migrate none but the one that is restored into.

type RowCounts = Record<string, number>;

/** Writes everything into one file, as it was at one moment, while the service runs. */
export const backUp = async (
  path: string,
  { overwrite, json }: { overwrite?: boolean; json?: boolean },
): Promise<void> => {
  const start = performance.now();
  const config = readConfig(process.env);
  refuseExisting(path, overwrite);
  const backup = await snapshotOf(config)(async (reading) => {
    const migrations = await knownMigrations(reading);
    const { checks, box } = await backupKeys(config, reading.db);
    const header = headerLine({
      service: VERSION,
      engine: reading.engine,
      madeAt: toIso(Date.now()),
      migrations,
      keyChecks: checks,
    });
    const tables: RowCounts = {};
    const lines = linesOf(reading, header, tables, new Progress(json));
    const bytes = await writeWhole(path, overwrite, (file) => writeBackup(file, lines, box));
    const rows = Object.values(tables).reduce((sum, count) => sum + count, 0);
    return { file: path, bytes, rows, tables, schema: migrations.at(-1) ?? '', signed: box !== null };
  });
  if (!backup.signed)
    notice(
      'the backup is not signed, because the key of this database is not here: only restore --unsigned accepts it',
    );
  await recordBackup(config);
  const seconds = secondsSince(start);
  if (json) return print({ ...backup, seconds }, true);
  const key = config.secretKeys ? 'SECRET_KEY' : `${config.dataDir}/secret.key`;
  printTables(backup.tables, [
    `${number(backup.rows)} rows in ${path}: ${megabytes(backup.bytes)}, ${duration(seconds)}.`,
    `Keep ${key} as well, and in another place: it is not in the file, and a restore needs it for the signature, webhook secrets and second factors.`,
  ]);
};

/** The backup is good without its entry: a standby, or a schema of another release, does not accept it. */
const recordBackup = async (config: Config): Promise<void> => {
  const database = openDatabase(config, { onQuery: () => {}, onDatabaseError: () => {} });
  try {
    await recordForAllShops(database.db, { at: Date.now(), action: 'BACKED_UP', data: {} });
  } catch (error) {
    const why =
      describeDatabaseError(error)?.code ?? (error as NodeJS.ErrnoException).code ?? 'unknown error';
    notice(`the backup is complete, but could not be recorded in the audit log (${why})`);
  } finally {
    await database.close();
  }
};

const knownMigrations = async (reading: Reading): Promise<string[]> => {
  const migrations = await reading.migrations();
  if (migrations.length === 0)
    throw new CliFailure('there is nothing to back up: this database has not been set up');
  const unknown = unknownMigration(migrations);
  if (unknown)
    throw new CliFailure(
      `${unknown.by} of Handback has migrated this database (${unknown.name}): use that one`,
    );
  return migrations;
};

/** Notes in `counts` how many rows each table has. */
async function* linesOf(
  reading: Reading,
  header: string,
  counts: RowCounts,
  progress: Progress,
): AsyncGenerator<string> {
  yield header;
  const digests: Record<string, RowsDigest['value']> = {};
  const known = await reading.tables();
  for (const table of BACKED_UP_TABLES) {
    const columns = known.get(table);
    // A later migration adds it.
    if (!columns) continue;
    yield tableLine(table, columns);
    const digest = new RowsDigest();
    for await (const row of reading.rows(table, columns)) {
      const line = rowLine(row);
      digest.add(line);
      yield line;
      progress.show(`reading ${table}`, digest.rows);
    }
    digests[table] = digest.value;
    counts[table] = digest.rows;
  }
  progress.end();
  yield trailerLine(digests);
}

// --- restore ---

/** Fills an empty database from a backup, in one transaction: all of it, compared row by row, or nothing. */
export const restore = async (
  path: string,
  { unsigned, erasures, json }: { unsigned?: boolean; erasures?: string; json?: boolean },
): Promise<void> => {
  const start = performance.now();
  const config = readConfig(process.env);
  const list = erasures === undefined ? null : await readErasureList(erasures);
  const progress = new Progress(json);
  const backup = await BackupFile.open(path);
  const { header } = backup;
  const { madeAt } = header;
  let tables: BackupTable[] = [];
  let release = () => {};
  let erased = null as { listed: number; applied: number; unknown: number } | null;
  try {
    mustBeKnown(header, path);
    mustOpenKeyChecks(config, header.keyChecks);
    tables = await backup.check(() => keysOf(config), { unsigned });
    ({ release } = lockDatabase(config));
    const fill = fillingOf(config, notice);
    await fill(async (filling) => {
      await prepare(filling, header);
      await mustFit(filling, tables);
      await load(filling, backup, progress);
      await verify(filling, tables, progress);
      await filling.migrateTo(null);
      await recordForAllShops(filling.db, { at: Date.now(), action: 'RESTORED', data: { madeAt } });
      if (list) await addErasures(filling.db, list);
      else await saveFact(filling.db, 'restored-without-erasures', String(Date.now()));
    });
    if (list) erased = { listed: list.length, ...(await withContext(config, applyErasures)) };
  } finally {
    release();
    await backup.close();
  }
  progress.end();
  const seconds = secondsSince(start);
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const counts: RowCounts = Object.fromEntries(tables.map((table) => [table.table, table.rows]));
  const result = { file: path, madeAt, rows, tables: counts, verified: true, erasures: erased, seconds };
  if (json) return print(result, true);
  printTables(counts, [
    `${number(rows)} rows restored as they were at ${madeAt}, and compared with the file row by row: ${duration(seconds)}.`,
    'Everyone signs in again, and open invitations need a new link. API keys, cursors and webhooks go on.',
    erased
      ? `${number(erased.applied)} erasures of ${erasures} were applied; ${number(erased.unknown)} more name returns that are not in the backup.`
      : 'What was erased since the backup is back: apply the newest list with handback customer erasures --apply FILE.',
  ]);
};

const mustBeKnown = ({ migrations, service }: Header, path: string): void => {
  const unknown = unknownMigration(migrations);
  if (unknown)
    throw new CliFailure(
      `${path} was written by ${unknown.by} (${service}), whose schema this one does not know: use that one`,
    );
};

/** Gives the database the schema of the backup. Throws where it holds any row already. */
const prepare = async (filling: Filling, { migrations }: Header): Promise<void> => {
  const known = await filling.tables();
  const ours = TABLE_NAMES.filter((table) => known.has(table));
  const applied = await filling.migrations();
  if (applied.some((name, i) => migrations[i] !== name))
    throw new CliFailure('this database has another schema than the backup: use an empty one');
  if (applied.length === 0 && ours.length > 0)
    throw new CliFailure(`this database has tables of another program (${ours[0]}): use an empty one`);
  await filling.lock(ours).catch((error) => {
    throw isLockTimeout(error)
      ? new CliFailure('another process is using this database: stop the services first')
      : error;
  });
  for (const table of ours)
    if (table !== WRITTEN_BY_A_START && (await filling.hasRows(table)))
      throw new CliFailure(
        `this database is not empty (${table}): a backup is restored into an empty one only`,
      );
  await filling.migrateTo(migrations.at(-1) ?? null);
  await filling.clear(WRITTEN_BY_A_START);
};

/** Names go into statements: only those that the schema has. */
const mustFit = async (filling: Filling, tables: BackupTable[]): Promise<void> => {
  const known = await filling.tables();
  for (const { table, columns } of tables)
    if (!BACKED_UP_TABLES.includes(table) || columns.some((column) => !known.get(table)?.includes(column)))
      throw new CliFailure(`the backup has a table or column that its schema lacks (${table})`);
};

const load = async (filling: Filling, backup: BackupFile, progress: Progress): Promise<void> => {
  const written = new Map<string, number>();
  for await (const { table, columns, lines } of backup.batches()) {
    if (lines.length === 0) continue;
    const before = written.get(table) ?? 0;
    const after = before + lines.length;
    try {
      await filling.insert(table, columns, rowsIn(lines, table));
    } catch (error) {
      const problem = describeDatabaseError(error);
      if (!problem) throw error;
      // A damaged row of SQLite, for example. The message of the database may quote it.
      const why = problem.reason ?? [problem.code, problem.constraint].filter(Boolean).join(' ');
      throw new CliFailure(
        `rows ${before + 1} to ${after} of ${table} cannot be written: ${why}; nothing was restored`,
      );
    }
    written.set(table, after);
    progress.show(`writing ${table}`, after);
  }
};

const rowsIn = (lines: string[], table: string): Value[][] => {
  try {
    return lines.map(rowFrom);
  } catch {
    // The parser's message quotes the row.
    throw new CliFailure(`the backup has rows of ${table} that cannot be read: nothing was restored`);
  }
};

const verify = async (filling: Filling, tables: BackupTable[], progress: Progress): Promise<void> => {
  for (const { table, columns, rows, digest } of tables) {
    const found = new RowsDigest();
    for await (const row of filling.rows(table, columns)) {
      found.add(rowLine(row));
      progress.show(`comparing ${table}`, found.rows);
    }
    if (found.rows !== rows || found.value.digest !== digest)
      throw new CliFailure(`${table} does not hold what the backup holds: nothing was restored`);
  }
};

// --- printing ---

const secondsSince = (start: number): number => Math.round((performance.now() - start) / 10) / 100;
const megabytes = (bytes: number): string =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
const number = (count: number): string => count.toLocaleString('en');
const duration = (seconds: number): string =>
  seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;

const printTables = (tables: RowCounts, sentences: string[]): void => {
  const counted = Object.entries(tables).filter(([, rows]) => rows > 0);
  const width = Math.max(0, ...counted.map(([table]) => table.length));
  const lines = counted.map(([table, rows]) => `${table.padEnd(width)}  ${number(rows).padStart(12)}`);
  process.stdout.write(`${[...lines, ...sentences].join('\n')}\n`);
};
