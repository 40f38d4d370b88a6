import { recordForAllShops } from '../../audit/store.ts';
import { describeDatabaseError } from '../../db/database-errors.ts';
import { unknownMigration } from '../../db/migrate.ts';
import { openDatabase, snapshotOf } from '../../db/open.ts';
import { BACKED_UP_TABLES, type Reading } from '../../db/transfer.ts';
import { toIso } from '../../lib/time.ts';
import { type Config, VERSION } from '../../service/config.ts';
import { backupKeys } from '../../service/secrets.ts';
import { CliFailure, type Progress } from '../command.ts';
import {
  headerLine,
  RowsDigest,
  refuseExisting,
  rowLine,
  tableLine,
  trailerLine,
  writeBackup,
  writeWhole,
} from './backup-file.ts';

interface Options {
  overwrite: boolean | undefined;
  progress: Progress;
  notice: (message: string) => void;
}

type Digests = Record<string, RowsDigest['value']>;

/** Everything in one file, as it was at one moment, while the service runs. */
export const backUp = async (config: Config, path: string, { overwrite, progress, notice }: Options) => {
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
    const digests: Digests = {};
    const lines = linesOf(reading, header, digests, progress);
    const bytes = await writeWhole(path, overwrite, (file) => writeBackup(file, lines, box));
    const tables = Object.fromEntries(Object.entries(digests).map(([table, { rows }]) => [table, rows]));
    return {
      file: path,
      bytes,
      rows: Object.values(tables).reduce((sum, rows) => sum + rows, 0),
      tables,
      schema: migrations.at(-1) ?? '',
      signed: box !== null,
    };
  });
  if (!backup.signed)
    notice(
      'the backup is not signed, because the key of this database is not here: only restore --unsigned takes it',
    );
  await recordBackup(config, notice);
  return backup;
};

/** The backup is good without its entry: a standby, or a schema of another release, does not accept it. */
const recordBackup = async (config: Config, notice: Options['notice']): Promise<void> => {
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

async function* linesOf(
  reading: Reading,
  header: string,
  digests: Digests,
  progress: Progress,
): AsyncGenerator<string> {
  yield header;
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
      progress.at(`reading ${table}`, digest.rows);
    }
    digests[table] = digest.value;
  }
  progress.over();
  yield trailerLine(digests);
}
