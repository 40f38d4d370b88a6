import { unknownMigration } from '../db/migrate.ts';
import { withSnapshot } from '../db/transfer.ts';
import { toIso } from '../lib/time.ts';
import { type Config, VERSION } from '../platform/config.ts';
import { backupKeys } from '../platform/secrets.ts';
import { CliFailure } from '../platform/start-failure.ts';
import { backupLines, refuseExisting, writeAtomically, writeBackup } from './backup-file.ts';

export type RowCounts = Record<string, number>;

interface BackupOptions {
  overwrite?: boolean | undefined;
  /** The recipients who can decrypt the backup. Without any it is not encrypted. */
  recipients: readonly string[];
  onRow?(table: string, rows: number): void;
  /** The stop signal of a service. Without it, signals such as SIGTERM end the command. */
  signal?: AbortSignal;
}

/** Writes a snapshot of all data into one file while the service runs. The database may have any schema. */
export const takeBackup = async (config: Config, path: string, options: BackupOptions) => {
  const { overwrite = false, recipients, onRow, signal } = options;
  if (!overwrite) refuseExisting(path, ', or pass --overwrite');
  return withSnapshot(config, async (reading) => {
    const { engine, db } = reading;
    const migrations = await reading.migrations();
    if (migrations.length === 0)
      throw new CliFailure('there is nothing to back up: this database has not been set up');
    const unknown = unknownMigration(migrations);
    if (unknown)
      throw new CliFailure(
        `${unknown.by} of Handback has migrated this database (${unknown.name}), and only that release can back it up, even if you have gone back to this one`,
      );
    const { checks: keyChecks, box } = await backupKeys(config, db);
    const header = { service: VERSION, engine, madeAt: toIso(Date.now()), migrations, keyChecks };
    const tables: RowCounts = {};
    const lines = backupLines(header, await reading.tables(), reading.rows, (table, rows) => {
      tables[table] = rows;
      onRow?.(table, rows);
    });
    const bytes = await writeAtomically(
      path,
      overwrite,
      (file) => writeBackup(file, lines, box, recipients, signal),
      signal === undefined,
    );
    const rows = Object.values(tables).reduce((sum, count) => sum + count, 0);
    const schema = migrations.at(-1) ?? '';
    const encrypted = recipients.length > 0;
    return { file: path, bytes, rows, tables, schema, signed: box !== null, encrypted };
  });
};
