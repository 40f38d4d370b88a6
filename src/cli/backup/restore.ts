import { recordForAllShops } from '../../audit/store.ts';
import { describeDatabaseError, isLockTimeout } from '../../db/database-errors.ts';
import { unknownMigration } from '../../db/migrate.ts';
import { fillingOf, lockDatabase } from '../../db/open.ts';
import { TABLE_NAMES } from '../../db/schema.ts';
import { BACKED_UP_TABLES, type Filling, type Value, WRITTEN_BY_A_START } from '../../db/transfer.ts';
import type { Config } from '../../service/config.ts';
import { keysOf, mustOpenKeyChecks } from '../../service/secrets.ts';
import { CliFailure, type Progress } from '../command.ts';
import { BackupFile, type BackupTable, type Header, RowsDigest, rowFrom, rowLine } from './backup-file.ts';

interface Options {
  unsigned: boolean | undefined;
  progress: Progress;
  notice: (message: string) => void;
}

/** Fills an empty database from a backup, in one transaction: all of it, compared row by row, or nothing. */
export const restore = async (config: Config, path: string, { unsigned, progress, notice }: Options) => {
  const backup = await BackupFile.open(path);
  const { header } = backup;
  let release = () => {};
  try {
    mustBeKnown(header, path);
    mustOpenKeyChecks(config, header.keyChecks);
    const tables = await backup.check(() => keysOf(config), { unsigned });
    ({ release } = lockDatabase(config));
    await fillingOf(
      config,
      notice,
    )(async (filling) => {
      await prepare(filling, header);
      await mustFit(filling, tables);
      await load(filling, backup, progress);
      await verify(filling, tables, progress);
      await filling.migrateTo(null);
      await recordForAllShops(filling.db, {
        at: Date.now(),
        action: 'RESTORED',
        data: { madeAt: header.madeAt },
      });
    });
    progress.over();
    return {
      file: path,
      madeAt: header.madeAt,
      rows: tables.reduce((sum, { rows }) => sum + rows, 0),
      tables: Object.fromEntries(tables.map(({ table, rows }) => [table, rows])),
      verified: true,
    };
  } finally {
    release();
    await backup.close();
  }
};

const mustBeKnown = ({ migrations, service }: Header, path: string): void => {
  const unknown = unknownMigration(migrations);
  if (unknown)
    throw new CliFailure(
      `${path} was made by ${unknown.by} (${service}), whose schema this one does not know: use that one`,
    );
};

/** Gives the database the schema of the backup. Throws where it holds any row already. */
const prepare = async (filling: Filling, { migrations }: Header): Promise<void> => {
  const known = await filling.tables();
  const ours = TABLE_NAMES.filter((table) => known.has(table));
  const made = await filling.migrations();
  if (made.some((name, i) => migrations[i] !== name))
    throw new CliFailure('this database has another schema than the backup: use an empty one');
  if (made.length === 0 && ours.length > 0)
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
    progress.at(`writing ${table}`, after);
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
      progress.at(`comparing ${table}`, found.rows);
    }
    if (found.rows !== rows || found.value.digest !== digest)
      throw new CliFailure(`${table} does not hold what the backup holds: nothing was restored`);
  }
};
