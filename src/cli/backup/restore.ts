import { recordForAllShops } from '../../audit/store.ts';
import type { Config } from '../../config.ts';
import { ALL_TABLES, BACKED_UP_TABLES, WRITTEN_BY_A_START } from '../../db/backed-up.ts';
import { databaseFault, isLockTimeout } from '../../db/errors.ts';
import { unknownMigration } from '../../db/migrate.ts';
import { claimDatabase, fillingOf } from '../../db/open.ts';
import type { Filling, Value } from '../../db/transfer.ts';
import { mustOpenKeyChecks } from '../../secret-keys.ts';
import { CliFailure } from '../output.ts';
import { type Header, RowsDigest, rowFrom, rowLine } from './format.ts';
import { type Progress, secondsSince } from './progress.ts';
import { type BackupFile, openBackup } from './read-file.ts';

export interface Restored {
  file: string;
  madeAt: string;
  seconds: number;
  rows: number;
  tables: Record<string, number>;
  verified: true;
}

interface Options {
  progress: Progress;
  /** Takes what the operator should know although it went well. */
  notice: (message: string) => void;
}

/** Fills an empty database from a backup, in one transaction: all of it, compared row by row, or nothing. */
export const restore = async (
  config: Config,
  path: string,
  { progress, notice }: Options,
): Promise<Restored> => {
  const start = performance.now();
  const backup = await openBackup(path);
  let release = () => {};
  try {
    const { header } = backup;
    mustBeKnown(header, path);
    mustOpenKeyChecks(config, header.keyChecks);
    ({ release } = claimDatabase(config));
    const loaded = await fillingOf(
      config,
      notice,
    )(async (filling) => {
      await prepare(filling, header);
      const digests = await load(filling, backup, progress);
      await verify(filling, digests, progress);
      await filling.migrateTo(null);
      await recordForAllShops(filling.db, {
        at: Date.now(),
        action: 'RESTORED',
        data: { madeAt: header.madeAt },
      });
      return digests;
    });
    progress.over();
    const tables = Object.fromEntries(loaded.map(({ table, digest }) => [table, digest.rows]));
    return {
      file: path,
      madeAt: header.madeAt,
      seconds: secondsSince(start),
      rows: loaded.reduce((sum, { digest }) => sum + digest.rows, 0),
      tables,
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
  const ours = ALL_TABLES.filter((table) => known.has(table));
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

interface Loaded {
  table: string;
  columns: string[];
  digest: RowsDigest;
}

const load = async (filling: Filling, backup: BackupFile, progress: Progress): Promise<Loaded[]> => {
  const known = await filling.tables();
  const loaded: Loaded[] = [];
  for await (const part of backup.parts()) {
    const current = loaded.at(-1);
    if (part.kind === 'table') {
      const { table, columns } = part;
      // Names go into statements: only those that the schema has.
      if (!BACKED_UP_TABLES.includes(table) || columns.some((column) => !known.get(table)?.includes(column)))
        throw new CliFailure(`the backup has a table or column that its schema lacks (${table})`);
      loaded.push({ table, columns, digest: new RowsDigest() });
    } else if (!current) throw new CliFailure('the backup has rows of no table');
    else if (part.kind === 'rows') {
      await insert(filling, current, part.lines);
      progress.at(current.table, current.digest.rows);
    } else if (!current.digest.isLike(part))
      throw new CliFailure(`the backup's rows of ${current.table} are not those it was made of`);
  }
  return loaded;
};

const insert = async (filling: Filling, { table, columns, digest }: Loaded, lines: string[]) => {
  const first = digest.rows + 1;
  for (const line of lines) digest.add(line);
  const rows = parsed(lines, table);
  try {
    await filling.insert(table, columns, rows);
  } catch (error) {
    const fault = databaseFault(error);
    if (!fault) throw error;
    // A damaged row of SQLite, for example. The message of the database may quote it.
    const why = fault.reason ?? [fault.code, fault.constraint].filter(Boolean).join(' ');
    throw new CliFailure(
      `rows ${first} to ${digest.rows} of ${table} cannot be written: ${why}; nothing was restored`,
    );
  }
};

const parsed = (lines: string[], table: string): Value[][] => {
  try {
    return lines.map(rowFrom);
  } catch {
    // The parser's message quotes the row.
    throw new CliFailure(`the backup has rows of ${table} that cannot be read: nothing was restored`);
  }
};

/** Reads everything back before the commit. */
const verify = async (filling: Filling, loaded: Loaded[], progress: Progress): Promise<void> => {
  for (const { table, columns, digest } of loaded) {
    const found = new RowsDigest();
    for await (const row of filling.rows(table, columns)) {
      found.add(rowLine(row));
      progress.at(`${table} (read back)`, found.rows);
    }
    if (!found.isLike(digest))
      throw new CliFailure(`${table} does not hold what the backup holds: nothing was restored`);
  }
};
