// engines: sqlite, postgres

import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OWN_MARK } from '../../src/backup/left-behind.ts';
import {
  backUpIfDue,
  checkBackups,
  readSchedule,
  type ScheduleState,
  startBackups,
} from '../../src/backup/schedule.ts';
import { type BackupSchedule, readConfig } from '../../src/platform/config.ts';
import { backupFile, emptyOn, everyRow, failing, linesOf } from '../support/backups.ts';
import { cliHere, runHere } from '../support/commands-here.ts';
import { doctor } from '../support/doctor.ts';
import { ONLY_POSTGRES, ONLY_SQLITE } from '../support/engines.ts';
import { ENGINE, type Harness, harness } from '../support/harness.ts';
import {
  type Env,
  fullAfter,
  lookInto,
  migratedDatabase,
  run,
  SECRET_KEY,
  startAll,
  startServer,
  temporaryFolder,
} from '../support/process.ts';
import { makeShop } from '../support/shops.ts';
import { onlyIf } from '../support/tools.ts';
import { untilHolds } from '../support/until.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const keyPair = async () => {
  const identity = await generateIdentity();
  const file = join(temporaryFolder(), 'identity.txt');
  writeFileSync(file, `# created: today\n${identity}\n`);
  return { identity, file, recipient: await identityToRecipient(identity) };
};

const stateIn = async (env: Env): Promise<ScheduleState | null> => {
  const row = await lookInto(env)
    .selectFrom('installation')
    .select('value')
    .where('name', '=', 'scheduled-backup')
    .executeTakeFirst();
  return row ? JSON.parse(row.value) : null;
};

/** Settings for a database with a shop, whose backups go into a new folder at 02:30. */
const scheduled = async (more: Env = {}) => {
  const folder = temporaryFolder();
  const env = {
    ...(await migratedDatabase({ SECRET_KEY })),
    BACKUP_DAILY_AT: '02:30',
    BACKUP_DIR: folder,
    ...more,
  };
  await makeShop(env);
  return { env, folder };
};

const needsRoot = onlyIf(process.getuid?.() === 0, 'only root can give a folder away');
const keyOf = ({ env }: Harness): string =>
  env['SECRET_KEY'] ?? readFileSync(join(env['DATA_DIR'] as string, 'secret.key'), 'utf8').trim();

const taken = (env: Env) =>
  untilHolds(
    'a backup is taken',
    () => stateIn(env),
    (state) => state?.doneAt,
  );
const saveState = (env: Env, change: Partial<ScheduleState>) =>
  stateIn(env).then((state) =>
    lookInto(env)
      .updateTable('installation')
      .set({ value: JSON.stringify({ ...state, ...change }) })
      .where('name', '=', 'scheduled-backup')
      .execute(),
  );

describe('an encrypted backup', ONLY_SQLITE, () => {
  it('can only be restored with its own identity', async () => {
    const { env } = await scheduled();
    const [own, other] = [await keyPair(), await keyPair()];
    const file = backupFile();
    const made = await cliHere(['backup', file, '--recipient', own.recipient], env);
    expect(made).toMatchObject({ encrypted: true, signed: true });
    const bytes = readFileSync(file);
    expect(bytes.subarray(0, 21).toString()).toBe('age-encryption.org/v1');
    // The first bytes of a gzip file; a shorter prefix occurs in some ciphertexts.
    expect(bytes.includes(Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0]))).toBe(false);

    const target = await emptyOn(ENGINE);
    expect(await failing(['restore', file], target)).toMatch(/is encrypted: pass --identity/);
    expect(await failing(['restore', file, '--identity', other.file], target)).toMatch(/another recipient/);
    expect(await failing(['restore', file, '--identity', file], target)).toMatch(
      /not a file of age identities/,
    );
    expect(await failing(['restore', file, '--identity', '/missing'], target)).toMatch(/no such file/);
    for (const damage of ['cut', 'changed'] as const) {
      const spoilt = Buffer.from(damage === 'cut' ? bytes.subarray(0, -100) : bytes);
      spoilt.writeUInt8(spoilt.readUInt8(spoilt.length - 50) ^ 1, spoilt.length - 50);
      writeFileSync(`${file}.${damage}`, spoilt);
      expect(await failing(['restore', `${file}.${damage}`, '--identity', own.file], target)).toMatch(
        /damaged/,
      );
    }
    expect(await cliHere(['restore', file, '--identity', own.file], target)).toMatchObject({
      verified: true,
      tables: made.tables,
    });
    expect((await everyRow(target))['shops']).toEqual((await everyRow(env))['shops']);
  });

  it('is written if BACKUP_RECIPIENT is set; an invalid one is refused before anything is written', async () => {
    const { env, folder } = await scheduled();
    const { recipient, identity } = await keyPair();
    const file = backupFile();
    const wrong = `${recipient.slice(0, -1)}${recipient.endsWith('q') ? 'p' : 'q'}`;
    expect(await failing(['backup', file], { ...env, BACKUP_RECIPIENT: wrong })).toMatch(/a typing error/);
    expect(existsSync(file)).toBe(false);
    const config = readConfig({ ...env, BACKUP_RECIPIENT: wrong });
    await expect(checkBackups(config)).rejects.toThrow(/a typing error \(BACKUP_RECIPIENT/);
    expect(readdirSync(folder)).toEqual([]);
    expect(await cliHere(['backup', file], { ...env, BACKUP_RECIPIENT: recipient })).toMatchObject({
      encrypted: true,
    });
    for (const name of ['BACKUP_RECIPIENT', '--recipient']) {
      const args = ['backup', file, '--overwrite', ...(name === '--recipient' ? [name, identity] : [])];
      const line = await failing(args, name === '--recipient' ? env : { ...env, [name]: identity });
      expect(line).toMatch(/must be an age recipient/);
      expect(line).not.toContain(identity);
    }
  });
});

describe('restore --check', ONLY_SQLITE, () => {
  it('restores into a temporary database, without changing that of the service or the folder', async () => {
    const { env } = await scheduled();
    const file = backupFile();
    const { tables } = await cliHere(['backup', file], env);
    const before = await everyRow(env);
    const TMPDIR = temporaryFolder();
    const check = ['restore', file, '--check'];
    const result = await cliHere(check, { ...env, TMPDIR });
    expect(result).toMatchObject({ verified: true, restored: false, tables });
    expect((await runHere(check, { ...env, TMPDIR })).stdout).toMatch(/deleted again/);
    // One that a killed process left, and ones that a running process or another machine uses.
    const [host] = OWN_MARK.split('-');
    const marks = [`${host}-999999999-0badca`, `${host}-${process.ppid}-0badca`, `0badca-1-0badca`];
    const folders = marks.map((mark) => join(TMPDIR, `handback-check-${mark}-AbCdEf`));
    for (const folder of folders) mkdirSync(folder, { mode: 0o700 });
    // A command leaves neither links nor folders that others may write into.
    const precious = temporaryFolder();
    writeFileSync(join(precious, 'precious'), '');
    const foreign = join(TMPDIR, `handback-check-${marks[0]}-Foreig`);
    mkdirSync(foreign);
    chmodSync(foreign, 0o777);
    symlinkSync(precious, join(TMPDIR, `handback-check-${marks[0]}-Linked`));
    const others = ['Foreig', 'Linked'].map((end) => join(TMPDIR, `handback-check-${marks[0]}-${end}`));
    writeFileSync(file, readFileSync(file).subarray(0, -10));
    expect(await failing(check, { ...env, TMPDIR })).toMatch(/no signature/);
    const left = () => readdirSync(TMPDIR).map((name) => join(TMPDIR, name));
    expect(left().sort()).toEqual([...folders.slice(1), ...others].sort());
    utimesSync(folders[2] as string, 1, 1);
    await failing(check, { ...env, TMPDIR });
    expect(left().sort()).toEqual([folders[1], ...others].sort());
    expect(readdirSync(precious)).toEqual(['precious']);
    expect(await everyRow(env)).toEqual(before);
  });

  it('prints no control characters of an untrusted file', async () => {
    const { env } = await scheduled();
    const title = '\u001b]0;owned\u0007\u001b[2J';
    const header = {
      handback: 'backup',
      format: 1,
      engine: 'sqlite',
      madeAt: new Date().toISOString(),
      keyChecks: [],
    };
    const file = join(temporaryFolder(), `evil${title}.backup`);
    for (const more of [
      { service: `0.1.0${title}`, migrations: ['9999-future'] },
      { service: '0.1.0', migrations: [`9999${title}`] },
    ]) {
      writeFileSync(file, gzipSync(`${JSON.stringify({ ...header, ...more })}\n`));
      const line = await failing(['restore', file, '--check', '--unsigned'], env);
      expect(line).toMatch(/its header cannot be read|a newer release \(0\.1\.0\)/);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal obeys
      expect(line.trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
    }
  });

  it('names TMPDIR if it cannot write', async () => {
    const { env } = await scheduled();
    const file = backupFile();
    await cliHere(['backup', file], env);
    const TMPDIR = temporaryFolder();
    const full = await run(['restore', file, '--check'], { ...env, TMPDIR }, { shell: fullAfter(100) });
    expect(full.status).toBe(1);
    expect(full.stderr).toMatch(/^(?!.*DATA_DIR).*(the disk full.*\(TMPDIR\)|disk is full \(TMPDIR\))/);
    const gone = { ...env, TMPDIR: join(TMPDIR, 'gone') };
    expect(await failing(['restore', file, '--check'], gone)).toMatch(
      /cannot write .*gone \(TMPDIR\): there is no such folder/,
    );
  });
});

describe('the schedule', () => {
  it('takes a missed backup at the next start, once for all processes, and its file can be restored', async () => {
    const { recipient, file } = await keyPair();
    const { env, folder } = await scheduled({ BACKUP_RECIPIENT: recipient });
    const servers = await startAll(env);
    await taken(env);
    const [name = '', ...more] = readdirSync(folder);
    expect(more).toEqual([]);
    expect(name).toMatch(/^handback-daily-[0-9a-f]{8}-\d{4}-\d\d-\d\dT\d{6}Z\.backup\.age$/);
    const metrics = String((await servers[0]?.get('/metrics', { ip: null }))?.body);
    expect(metrics).toMatch(/^handback_backup_age_seconds \d/m);
    expect(metrics).toMatch(/^handback_backup_failures_total 0$/m);
    expect((await doctor(env))['backup']).toMatchObject({
      state: 'ok',
      message: expect.stringContaining(name),
    });
    for (const server of servers) expect((await server.stop()).status).toBe(0);
    const logs = servers.flatMap((server) => server.logs());
    expect(logs.filter(({ msg }) => msg === 'backup taken')).toHaveLength(1);
    expect(readdirSync(folder)).toEqual([name]);
    const restore = ['restore', join(folder, name), '--identity', file];
    expect(await cliHere([...restore, '--check'], env)).toMatchObject({ verified: true });
    // A restored installation takes its own backups.
    const other = { ...(await emptyOn(ENGINE)), SECRET_KEY };
    await cliHere(restore, other);
    expect(await stateIn(other)).toBeNull();
  });

  it(
    'takes a backup again at the next start if its process died, and deletes what was left',
    ONLY_SQLITE,
    async () => {
      const { env, folder } = await scheduled();
      const server = await startServer(env);
      await taken(env);
      await server.stop('SIGKILL');
      const [first = ''] = readdirSync(folder);
      const dead = `${OWN_MARK.split('-')[0]}-${server.pid}-0badca`;
      const others = [
        'handback-2026-11-01.backup',
        'handback-daily-x.txt',
        'mine.part',
        `mine.${OWN_MARK}.part`,
      ];
      for (const name of [`${first}.${dead}.part`, ...others]) writeFileSync(join(folder, name), 'x');
      // Longer than a running backup leaves its claim unrenewed.
      await saveState(env, { doneAt: null, claimedAt: Date.now() - 0.3 * HOUR });
      expect((await doctor(env))['backup']).toMatchObject({
        state: 'warn',
        message: expect.stringMatching(
          /another was started and wrote rows until at least \S+: its process died or hangs/,
        ),
      });
      const next = await startServer(env);
      await taken(env);
      await next.stop();
      const names = readdirSync(folder);
      expect(names).toHaveLength(2 + others.length);
      expect(names).toEqual(expect.arrayContaining([first, ...others]));
    },
  );

  it(
    'takes a backup again in another process once the claim of a killed one has expired, and leaves no file of it',
    ONLY_POSTGRES,
    async () => {
      const { env, folder } = await scheduled();
      // A table that cannot be read stops the backup half-way.
      const lock = await lookInto(env)
        .connection()
        .execute(async (connection) => {
          await sql`begin`.execute(connection);
          await sql`lock table timeline in access exclusive mode`.execute(connection);
          const server = await startServer(env);
          await untilHolds(
            'it is being written',
            () => readdirSync(folder),
            ({ length }) => length > 0,
          );
          const other = await startServer(env);
          await server.stop('SIGKILL');
          await sql`rollback`.execute(connection);
          return { other };
        });
      const [draft = '', ...more] = readdirSync(folder);
      expect(more).toEqual([]);
      expect(draft).toMatch(/\.part$/);
      expect(await stateIn(env)).toMatchObject({ doneAt: null, error: null, newest: null });
      expect(lock.other.logs().filter(({ msg }) => msg.startsWith('backup'))).toEqual([]);
      await lock.other.stop();
      await saveState(env, { claimedAt: Date.now() - 2.1 * HOUR });
      const next = await startServer(env);
      await taken(env);
      await next.stop();
      expect(readdirSync(folder)).toEqual([expect.stringMatching(/\.backup$/)]);
    },
  );

  it('checks the newest file: one that is missing or truncated is reported and does not count', async () => {
    const folder = temporaryFolder();
    const { ctx, env } = await harness({ env: { SECRET_KEY, BACKUP_DAILY_AT: '02:30', BACKUP_DIR: folder } });
    onTestFinished(startBackups(ctx));
    await taken(env);
    const [name = ''] = readdirSync(folder);
    const look = async () => {
      const { state, message } = (await doctor(env))['backup'] ?? {};
      const age = /^handback_backup_age_seconds (\S+)$/m.exec(await ctx.metrics.registry.metrics())?.[1];
      return { state, message, age };
    };
    const is = (state: string, message: RegExp) => ({
      state,
      message: expect.stringMatching(message),
      age: '+Inf',
    });
    expect(await look()).toMatchObject({ state: 'ok', age: expect.stringMatching(/^\d/) });
    renameSync(join(folder, name), join(folder, 'elsewhere'));
    const missing =
      /^the newest was .* which is missing \(.*\): check that the right disk is mounted \(BACKUP_DIR\)\./;
    expect(await look()).toEqual(is('wrong', missing));
    const newest = (await stateIn(env))?.newest as NonNullable<ScheduleState['newest']>;
    await saveState(env, { newest: { ...newest, host: 'another-machine' } });
    expect(await look()).toEqual(is('warn', /another-machine took it/));
    renameSync(join(folder, 'elsewhere'), join(folder, name));
    truncateSync(join(folder, name), 10);
    expect(await look()).toEqual(is('wrong', new RegExp(`no longer has the ${newest.bytes} bytes`)));
  });

  it('writes only into a folder that belongs to its user and that nobody else can write to', {
    ...ONLY_SQLITE,
    ...needsRoot,
  }, async () => {
    const { env, folder } = await scheduled();
    const refused = async (line: RegExp) => {
      expect((await doctor(env))['backup']).toMatchObject({ state: 'wrong' });
      await expect(checkBackups(readConfig(env))).rejects.toThrow(line);
    };
    for (const mode of [0o777, 0o770, 0o720]) {
      chmodSync(folder, mode);
      await refused(/backups are not safe in .*chmod 700; BACKUP_DIR/);
    }
    const { status, stderr } = await run(['serve'], { ...env, PORT: '0' });
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^handback: backups are not safe in [^\n]+\n$/),
    ]);
    chmodSync(folder, 0o755);
    chownSync(folder, 65_534, 0);
    await refused(/it must belong to user 0/);
    chownSync(folder, 0, 0);
    expect((await doctor(env))['backup']?.message).toMatch(/there is no backup yet/);
  });

  it(
    'allows a day for the first backup after a restore, and doctor says what was restored',
    ONLY_SQLITE,
    async () => {
      const { env } = await scheduled();
      const file = backupFile();
      await cliHere(['backup', file], env);
      const target = { ...env, ...(await emptyOn(ENGINE)) };
      // An empty list, written by the installation itself.
      const list = join(temporaryFolder(), 'none');
      writeFileSync(list, (await runHere(['customer', 'erasures'], env)).stdout);
      const printed = await runHere(['restore', file, '--erasures', list], target);
      expect(printed.stdout).toMatch(/keys that were revoked or replaced, people who were removed/);
      const found = await doctor(target);
      expect(found['backup']).toMatchObject({
        state: 'ok',
        message: expect.stringContaining('since the restore at'),
      });
      expect(found['restore']).toMatchObject({
        state: 'warn',
        message: expect.stringMatching(/keys revoked since then work again, and people removed/),
      });
      expect(Object.values(found).filter(({ state }) => state === 'wrong')).toEqual([]);
      const restored = { at: Date.now() - 8 * DAY, madeAt: new Date().toISOString() };
      await lookInto(target)
        .updateTable('installation')
        .set({ value: JSON.stringify(restored) })
        .where('name', '=', 'restored')
        .execute();
      const later = await doctor(target);
      expect([later['backup']?.state, later['restore']]).toEqual(['wrong', undefined]);
    },
  );

  it('does not start with invalid settings', async () => {
    const valid = { DATABASE_URL: 'postgres://localhost/x', SECRET_KEY };
    for (const [settings, line] of [
      [{ BACKUP_DAILY_AT: '02:30' }, /BACKUP_DIR is required/],
      [{ BACKUP_DIR: '/tmp' }, /BACKUP_DAILY_AT is required/],
      [{ BACKUP_DAILY_AT: '24:00', BACKUP_DIR: '/tmp' }, /BACKUP_DAILY_AT must be a time of day in UTC/],
      [{ BACKUP_DAILY_AT: '02:30', BACKUP_DIR: '/missing' }, /no such folder \(BACKUP_DIR\)/],
      [{ BACKUP_DAILY_AT: '02:30', BACKUP_DIR: '/dev/null' }, /not a folder \(BACKUP_DIR\)/],
      [{ BACKUP_DAILY_AT: '02:30', BACKUP_DIR: '/tmp', BACKUP_KEEP: '0' }, /BACKUP_KEEP must be/],
      [{ BACKUP_RECIPIENT: 'age2x' }, /BACKUP_RECIPIENT must be an age recipient/],
    ] as const)
      await expect(async () => checkBackups(readConfig({ ...valid, ...settings }))).rejects.toThrow(line);
  });
});

describe('from day to day', () => {
  const NEVER = new AbortController().signal;
  const openSchedule = async (keep: number, folder = temporaryFolder()) => {
    const app: Harness = await harness();
    const schedule: BackupSchedule = { dailyAtMs: 2.5 * HOUR, folder, keep };
    const toMidnight = DAY - (app.ctx.clock.now() % DAY);
    app.clock.advance(toMidnight + 12 * HOUR);
    const take = async () => {
      const before = readdirSync(folder);
      await backUpIfDue(app.ctx, schedule, NEVER);
      return readdirSync(folder).filter((name) => !before.includes(name)).length;
    };
    return { app, folder, schedule, take };
  };

  it('a backup is taken once a day at its time, and the configured number is kept, at least the newest', async () => {
    const { app, folder, take } = await openSchedule(3);
    writeFileSync(join(folder, 'handback-2020-01-01.backup'), 'by hand');
    expect([await take(), await take()]).toEqual([1, 0]);
    app.clock.advance(14.4 * HOUR);
    expect(await take()).toBe(0);
    app.clock.advance(0.2 * HOUR);
    expect([await take(), await take()]).toEqual([1, 0]);
    for (let day = 0; day < 3; day++) {
      app.clock.advance(DAY);
      expect(await take()).toBe(1);
    }
    const own = readdirSync(folder).filter((name) => name.startsWith('handback-daily-'));
    expect(own).toHaveLength(3);
    expect(readdirSync(folder)).toContain('handback-2020-01-01.backup');
    // Files with a date in the future, an impossible date or another installation's id do not count.
    const odd = own.flatMap((name) => [
      name.replace(/-\d{4}-/, '-2999-'),
      name.replace(/-\d\d-\d\dT/, '-13-40T'),
      name.replace(/daily-.{8}/, 'daily-00000000'),
      name.replace(/daily-.{9}/, 'daily-'),
    ]);
    for (const name of odd) writeFileSync(join(folder, name), 'x');
    app.clock.advance(DAY);
    expect(await take()).toBe(1);
    const left = readdirSync(folder).filter((name) => name.startsWith('handback-daily-'));
    expect(left).toEqual(expect.arrayContaining(odd));
    const real = left.filter((name) => !odd.includes(name));
    expect(real).toHaveLength(3);
    for (const name of real) expect(linesOf(join(folder, name))[0]).toContain('handback');
  });

  it(
    'two installations share a folder and keep their own backups, and a restored one counts as another',
    ONLY_SQLITE,
    async () => {
      const folder = temporaryFolder();
      const [one, other] = await Promise.all([openSchedule(2, folder), openSchedule(2, folder)]);
      for (let day = 0; day < 4; day++) {
        expect([await one.take(), await other.take()]).toEqual([1, 1]);
        one.app.clock.advance(DAY);
        other.app.clock.advance(DAY);
      }
      const names = readdirSync(folder).sort();
      const ids = names.map((name) => /^handback-daily-([0-9a-f]{8})-/.exec(name)?.[1]);
      expect(names).toHaveLength(4);
      expect(new Set(ids).size).toBe(2);
      const target = { ...(await emptyOn(ENGINE)), SECRET_KEY };
      await cliHere(['restore', join(folder, names[0] as string)], {
        ...target,
        SECRET_KEY: [one, other].map(({ app }) => keyOf(app)).join(),
      });
      const facts = await lookInto(target).selectFrom('installation').select('name').execute();
      expect(facts.map(({ name }) => name)).not.toContain('installation-id');
    },
  );

  it('a clock that was a year ahead does not stop the backups', ONLY_SQLITE, async () => {
    const { app, take } = await openSchedule(3);
    app.clock.advance(365 * DAY);
    expect(await take()).toBe(1);
    app.clock.advance(-365 * DAY);
    expect([await take(), await take()]).toEqual([1, 0]);
  });

  it(
    'a process whose clock is slightly behind respects a backup that another has claimed or taken',
    ONLY_SQLITE,
    async () => {
      const { app, folder, schedule, take } = await openSchedule(3);
      const claims = async (behindMs: number) => {
        app.clock.advance(-behindMs);
        const taken = await take();
        app.clock.advance(behindMs);
        return taken;
      };
      await backUpIfDue(app.ctx, { ...schedule, folder: join(folder, 'gone') }, NEVER);
      expect([await claims(1), await claims(1.9 * HOUR)]).toEqual([0, 0]);
      app.clock.advance(2.1 * HOUR);
      expect([await take(), await claims(1), await claims(1.9 * HOUR)]).toEqual([1, 0, 0]);
    },
  );

  it('a damaged stored state is logged once, and a backup is taken', ONLY_SQLITE, async () => {
    const { app, take } = await openSchedule(9);
    const { db } = app.ctx;
    await take();
    for (const value of ['{"due":1,"claimedAt"', 'null', '{"due":"x"}']) {
      app.clock.advance(1_000);
      await db.updateTable('installation').set({ value }).where('name', '=', 'scheduled-backup').execute();
      app.logs.length = 0;
      expect(await readSchedule(db)).toBeNull();
      expect([await take(), await take()]).toEqual([1, 0]);
      expect(await readSchedule(db)).toMatchObject({ error: null, newest: { bytes: expect.any(Number) } });
      expect(app.logs.filter((line) => line.includes('could not be read'))).toHaveLength(1);
    }
  });

  it(
    'a failed backup is logged, counted and shown in doctor, and tried again every two hours',
    ONLY_SQLITE,
    async () => {
      const { app, folder, schedule, take } = await openSchedule(3);
      const gone = { ...schedule, folder: join(folder, 'gone') };
      await backUpIfDue(app.ctx, gone, NEVER);
      const [line = ''] = app.logs.filter((each) => each.includes('backup failed'));
      expect(JSON.parse(line)).toMatchObject({ level: 50, reason: 'BACKUP_DIR is gone' });
      expect(await app.ctx.metrics.registry.metrics()).toContain('handback_backup_failures_total 1');
      const env = { ...app.env, BACKUP_DAILY_AT: '02:30', BACKUP_DIR: folder };
      expect((await doctor(env))['backup']).toMatchObject({
        state: 'wrong',
        message: expect.stringMatching(/BACKUP_DIR is gone.*handback backup/),
      });
      app.clock.advance(1.9 * HOUR);
      expect(await take()).toBe(0);
      app.clock.advance(0.2 * HOUR);
      await backUpIfDue(app.ctx, gone, NEVER);
      app.clock.advance(2.1 * HOUR);
      expect([await take(), await take()]).toEqual([1, 0]);
    },
  );

  it(
    'a backup that takes hours keeps its claim while it writes, and its result counts',
    ONLY_SQLITE,
    async () => {
      const { app, schedule, take } = await openSchedule(3);
      const slow = {
        ...app.ctx.clock,
        now: () => {
          app.clock.advance(0.2 * HOUR);
          return app.ctx.clock.now();
        },
      };
      await backUpIfDue({ ...app.ctx, clock: slow }, schedule, NEVER);
      const { claimedAt = 0, doneAt, newest } = (await readSchedule(app.ctx.db)) ?? {};
      expect(claimedAt - (newest?.at ?? 0)).toBeGreaterThan(2 * HOUR);
      expect((doneAt ?? 0) - claimedAt).toBeLessThan(HOUR);
      expect(await take()).toBe(0);
    },
  );

  it('two processes that check at the same moment take one backup, and a stop leaves it to the next', async () => {
    const { app, folder, schedule, take } = await openSchedule(3);
    const stopping = new AbortController();
    stopping.abort();
    await backUpIfDue(app.ctx, schedule, stopping.signal);
    expect(readdirSync(folder)).toEqual([]);
    const looks = Array.from({ length: 5 }, () => backUpIfDue(app.ctx, schedule, NEVER));
    await Promise.all(looks);
    expect(readdirSync(folder)).toHaveLength(1);
    expect(await take()).toBe(0);
    expect(app.logs.filter((line) => line.includes('backup failed'))).toEqual([]);
  });
});
