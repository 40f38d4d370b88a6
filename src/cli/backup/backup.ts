import { recordForAllShops } from '../../audit/store.ts';
import type { Config } from '../../config.ts';
import { BACKED_UP_TABLES } from '../../db/backed-up.ts';
import { databaseFault } from '../../db/errors.ts';
import { unknownMigration } from '../../db/migrate.ts';
import { openDatabase, snapshotOf } from '../../db/open.ts';
import type { Reading } from '../../db/transfer.ts';
import { instant } from '../../instant.ts';
import { keyChecksOf } from '../../secret-keys.ts';
import { VERSION } from '../../version.ts';
import { CliFailure } from '../output.ts';
import { type Header, RowsDigest, rowLine } from './format.ts';
import { type Progress, secondsSince } from './progress.ts';
import { refuseExisting, writeBackup, writeFile } from './write-file.ts';

export interface BackedUp {
  file: string;
  bytes: number;
  seconds: number;
  rows: number;
  tables: Record<string, number>;
  schema: string;
}

interface Options {
  overwrite: boolean | undefined;
  progress: Progress;
  /** Takes what the operator should know although it went well. */
  notice: (message: string) => void;
}

/** Everything in one file, as it was at one moment, while the service runs. */
export const backUp = async (
  config: Config,
  path: string,
  { overwrite, progress, notice }: Options,
): Promise<BackedUp> => {
  refuseExisting(path, overwrite);
  const start = performance.now();
  const made = await snapshotOf(config)(async (reading) => {
    const header = await headerOf(config, reading);
    const counts: Record<string, number> = {};
    const lines = linesOf(reading, counts, progress);
    const bytes = await writeFile(path, overwrite, (file) => writeBackup(file, header, lines));
    return {
      file: path,
      bytes,
      seconds: secondsSince(start),
      rows: Object.values(counts).reduce((sum, count) => sum + count, 0),
      tables: counts,
      schema: header.migrations.at(-1) ?? '',
    };
  });
  await recordBackup(config, notice);
  return made;
};

/** The backup is good without its entry, which a standby or a schema of another release does not take. */
const recordBackup = async (config: Config, notice: Options['notice']): Promise<void> => {
  const database = openDatabase(config, { onQuery: () => {}, onFault: () => {} });
  try {
    await recordForAllShops(database.db, { at: Date.now(), action: 'BACKED_UP', data: {} });
  } catch (error) {
    const why = databaseFault(error)?.code ?? (error as NodeJS.ErrnoException).code ?? 'unknown error';
    notice(`the backup is complete, but the audit log could not be told of it (${why})`);
  } finally {
    await database.close();
  }
};

const headerOf = async (config: Config, reading: Reading): Promise<Header> => {
  const migrations = await reading.migrations();
  if (migrations.length === 0)
    throw new CliFailure('there is nothing to back up: this database has not been set up');
  const unknown = unknownMigration(migrations);
  if (unknown)
    throw new CliFailure(
      `${unknown.by} of Handback has migrated this database (${unknown.name}): use that one`,
    );
  return {
    service: VERSION,
    engine: reading.engine,
    madeAt: instant(Date.now()),
    migrations,
    keyChecks: await keyChecksOf(config, reading.db),
  };
};

async function* linesOf(
  reading: Reading,
  counts: Record<string, number>,
  progress: Progress,
): AsyncGenerator<string> {
  const known = await reading.tables();
  let total = 0;
  for (const table of BACKED_UP_TABLES) {
    const columns = known.get(table);
    // A later migration brings it.
    if (!columns) continue;
    yield JSON.stringify({ table, columns });
    const digest = new RowsDigest();
    for await (const row of reading.rows(table, columns)) {
      const line = rowLine(row);
      digest.add(line);
      yield line;
      progress.at(table, digest.rows);
    }
    yield JSON.stringify({ rows: digest.rows, digest: digest.digest });
    counts[table] = digest.rows;
    total += digest.rows;
  }
  progress.over();
  yield JSON.stringify({ tables: Object.keys(counts).length, rows: total });
}
