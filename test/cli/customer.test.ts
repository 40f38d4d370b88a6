import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { newPerson, type Person } from '../support/admin.ts';
import { ISO, newRepair, newTradeReturn, UNKNOWN_ID } from '../support/api.ts';
import { backupFile, emptyOn, failing } from '../support/backups.ts';
import { cliHere, runHere } from '../support/commands-here.ts';
import { tablesOf } from '../support/dump.ts';
import { itWith } from '../support/fixtures.ts';
import { ENGINE, type Harness, harness } from '../support/harness.ts';
import { type Env, lookInto, SECRET_KEY, temporaryFolder } from '../support/process.ts';
import { auditLog } from '../support/responses.ts';

const it = itWith(() => harness({ env: { SECRET_KEY } }));

const EMAIL = 'ada.planted@example.com';
const ADA = { customerEmail: EMAIL, customerName: 'Ada Planted', customerPhone: '+44 20 7946 0018' };

/** A repair that is closed, and one that is open. */
const plant = async (t: Harness) => {
  const { id: ended } = await newRepair(t, ADA);
  for (const [action, body] of [
    ['begin-repair', {}],
    ['resolve', { offlineDisposition: 'WRITE_OFF' }],
    ['close', {}],
  ] as const)
    expect(await t.post(`/offline-repairs/${ended}/${action}`, body)).toHaveStatus(200);
  const { id: open } = await newRepair(t, { ...ADA, customerEmail: EMAIL.toUpperCase() });
  return { ended, open };
};

const of = (t: Harness, ...more: string[]) => ['--shop', t.shop.id, '--email', EMAIL, ...more];
const REASON = ['--reason', 'Asked by letter'];
const eraseNow = (t: Harness, ...more: string[]) =>
  cliHere(['customer', 'erase', ...of(t, ...REASON, '--confirm', ...more)], t.env);
const isHeldBy = async (db: Harness['ctx']['db']) =>
  /planted|7946 0018/i.test(JSON.stringify(await tablesOf(db)));

const newFile = (text = ''): string => {
  const file = join(temporaryFolder(), 'list.jsonl');
  if (text) writeFileSync(file, text);
  return file;
};

describe('handback customer', () => {
  it('exports an unreadable row as it is stored, and says so', async ({ t }) => {
    const { ended } = await plant(t);
    const damaged = { faulty_item: '{"broken' };
    await t.ctx.db.updateTable('offline_repairs').set(damaged).where('id', '=', ended).execute();
    const { status, stdout, stderr } = await runHere(['customer', 'export', ...of(t)], t.env);
    expect(status).toBe(0);
    expect(stderr).toBe(
      `handback: exported as it is stored, since it cannot be read: offline_repairs ${ended}\n`,
    );
    expect(JSON.parse(stdout).returns).toContainEqual(
      expect.objectContaining({ return: expect.objectContaining({ id: ended, ...damaged }) }),
    );
  });

  it('finds customers by email or phone', async ({ t }) => {
    const { ended, open } = await plant(t);
    await newRepair(t);
    const found = await cliHere(['customer', 'find', ...of(t)], t.env);
    expect(found).toMatchObject([
      { id: open, kind: 'OFFLINE_REPAIR', hold: 'OPEN' },
      { id: ended, customerEmail: EMAIL, hold: null },
    ]);
    const byPhone = ['customer', 'find', '--shop', t.shop.id, '--phone', '0044 2079460018'];
    expect(await cliHere(byPhone, t.env)).toEqual(found);
    expect((await runHere(['customer', 'find', ...of(t)], t.env)).stdout).toMatch(/^kind +id +rmaNumber/);
    const elsewhere = ['customer', 'find', '--shop', UNKNOWN_ID, '--email', EMAIL];
    expect(await failing(elsewhere, t.env)).toMatch(/there is no shop/);
  });

  it('exports to standard output or into a new file', async ({ t, admin }) => {
    const { ended } = await plant(t);
    const { stdout, status } = await runHere(['customer', 'export', ...of(t)], t.env);
    expect(status).toBe(0);
    expect(JSON.parse(stdout).returns[1]).toMatchObject({ return: { id: ended, ...ADA } });
    const file = newFile();
    const args = ['customer', 'export', ...of(t, '--output', file)];
    expect(await cliHere(args, t.env)).toEqual({ file, bytes: statSync(file).size });
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    expect(JSON.parse(readFileSync(file, 'utf8')).returns).toEqual(JSON.parse(stdout).returns);
    expect(await failing(args, t.env)).toMatch(/already exists: choose another name\n/);
    expect(await auditLog(admin, 'CUSTOMER_EXPORTED')).toMatchObject([
      { actor: { type: 'SYSTEM', name: 'operator' }, data: { count: 2 } },
      { data: { count: 2 } },
    ]);
  });

  it('erases after confirmation, and first names what it erases', async ({ t, admin }) => {
    await plant(t);
    const dry = await cliHere(['customer', 'erase', ...of(t, '--dry-run')], t.env);
    expect(dry).toMatchObject({ dryRun: true, matched: 2, erased: 1, refused: ['#RMA-000002 OPEN'] });
    expect(await failing(['customer', 'erase', ...of(t, ...REASON)], t.env)).toMatch(
      /would erase 1 of 2 returns.*--confirm.*--dry-run/,
    );
    expect(await auditLog(admin, 'CUSTOMER_ERASED')).toEqual([]);
    const { stdout } = await runHere(['customer', 'erase', ...of(t, ...REASON, '--confirm')], t.env);
    expect(stdout).toMatch(/^erases +#RMA-000001\nrefuses +#RMA-000002 OPEN\nerased +1\n/);
    expect(await auditLog(admin, 'CUSTOMER_ERASED')).toMatchObject([
      { actor: { name: 'operator' }, data: { reason: 'Asked by letter', returns: 1 } },
    ]);
    expect(await failing(['customer', 'erase', ...of(t, ...REASON, '--confirm')], t.env)).toMatch(
      /No return was erased/,
    );
    expect(await eraseNow(t, '--include-open')).toEqual({ erased: 1, refused: [] });
    expect(await isHeldBy(t.ctx.db)).toBe(false);
    expect(await eraseNow(t)).toEqual({ erased: 0, refused: [] });
  });
});

const removed = async (t: Harness, admin: Person) => {
  const person = await newPerson(t, {
    role: 'STAFF',
    email: 'planted@leaver.example',
    name: 'Staff Planted',
  });
  const { id } = await newTradeReturn(t);
  await person.post(`/trade-returns/${id}/approve`, {});
  await admin.post(`/trade-returns/${id}/assign`, { assigneeId: person.id });
  return person.id;
};

const listOf = async (env: Env): Promise<string> => (await runHere(['customer', 'erasures'], env)).stdout;
/** The lines of a list without its last line, the signature. */
const linesOf = (list: string): string[] => list.trim().split('\n').slice(0, -1);
/** A list of these lines with this installation's signature. */
const signedBy = (t: Harness, lines: string[]): string => {
  const text = lines.map((line) => `${line}\n`).join('');
  const [hmac] = t.ctx.secrets.signatures('erasures', text);
  return `${text}${JSON.stringify({ hmac })}\n`;
};
const doctor = async (env: Env) => {
  const { json } = await runHere(['doctor', '--json'], env);
  return json.checks.find(({ check }: { check: string }) => check === 'erasures') ?? null;
};

/** A backup, and the list of what was erased after it: two returns and an employee. */
const erasedAfterBackup = async (t: Harness, admin: Person) => {
  const { ended } = await plant(t);
  const leaver = await removed(t, admin);
  const file = backupFile();
  await cliHere(['backup', file], t.env);
  await eraseNow(t, '--include-open');
  await admin.delete(`/users/${leaver}`);
  t.clock.advance(90_000);
  expect(await admin.post(`/former-employees/${leaver}/erase`, { reason: 'Asked' })).toHaveStatus(204);
  const list = await listOf(t.env);
  expect(linesOf(list)).toHaveLength(3);
  expect(JSON.parse(list.split('\n')[0] ?? '')).toEqual({
    subject_id: ended,
    shop_id: t.shop.id,
    kind: 'offline_repairs',
    at: expect.any(Number),
  });
  expect(await isHeldBy(t.ctx.db)).toBe(false);
  return { file, list, leaver };
};

describe('a restored backup', () => {
  it('with the newest list contains nothing that was erased since', async ({ t, admin }) => {
    const { file, list, leaver } = await erasedAfterBackup(t, admin);
    const unknown = JSON.stringify({ ...JSON.parse(list.split('\n')[0] ?? ''), subject_id: UNKNOWN_ID });
    const target = await emptyOn(ENGINE);
    const newestList = newFile(signedBy(t, [...linesOf(list), unknown]));
    const restored = await cliHere(['restore', file, '--erasures', newestList, '--confirm'], target);
    const deletes = [`the account planted@leaver.example (${leaver})`];
    const newest = expect.stringMatching(ISO);
    expect(restored.erasures).toEqual({ listed: 4, newest, applied: 3, unknown: 1, left: 0, deletes });
    const db = lookInto(target);
    expect(await isHeldBy(db)).toBe(false);
    expect(await db.selectFrom('users').select('id').where('id', '=', leaver).execute()).toEqual([]);
    const erased = db.selectFrom('offline_repairs').select('id').where('erased_at', 'is not', null);
    expect(await erased.execute()).toHaveLength(2);
    expect(
      await db.selectFrom('events').select('id').where('event', '=', 'offline_repair.erased').execute(),
    ).toEqual([]);
    expect(await doctor(target)).toBe(null);
    expect(await listOf(target)).toContain(UNKNOWN_ID);
  });

  it('without a list causes a warning of doctor until one is applied', async ({ t, admin }) => {
    const { file, list, leaver } = await erasedAfterBackup(t, admin);
    const target = await emptyOn(ENGINE);
    const { stdout } = await runHere(['restore', file], target);
    expect(stdout).toMatch(/^Data erased since the backup is back: .*--apply FILE\.$/m);
    expect(await isHeldBy(lookInto(target))).toBe(true);
    expect(await doctor(target)).toMatchObject({ state: 'warn', message: expect.stringMatching(/--apply/) });
    const second = backupFile();
    await cliHere(['backup', second], target);
    const args = ['customer', 'erasures', '--apply', newFile(list), '--confirm'];
    const deletes = [`the account planted@leaver.example (${leaver})`];
    expect(await cliHere(args, target)).toEqual({
      ...{ listed: 3, newest: expect.stringMatching(ISO), applied: 3, unknown: 0, left: 0 },
      deletes,
    });
    expect(await isHeldBy(lookInto(target))).toBe(false);
    expect(await doctor(target)).toBe(null);
    const again = { listed: 3, applied: 0, unknown: 0, left: 0, deletes: [] };
    expect(await cliHere(args, target)).toMatchObject(again);
    // A backup of it contains the warning, and applying a list removes it.
    const third = await emptyOn(ENGINE);
    await cliHere(['restore', second, '--erasures', newFile(list), '--confirm'], third);
    expect(await doctor(third)).toBe(null);
  });

  it('is not changed by a list that is unreadable, unsigned, or names active records', async ({
    t,
    admin,
  }) => {
    const { file, list } = await erasedAfterBackup(t, admin);
    const target = await emptyOn(ENGINE);
    const lines = linesOf(list);
    const restore = (text: string) => failing(['restore', file, '--erasures', newFile(text)], target);
    const apply = (text: string, ...more: string[]) => [
      'customer',
      'erasures',
      '--apply',
      newFile(text),
      ...more,
    ];
    const erasure = (kind: string, subject_id: string) =>
      JSON.stringify({ subject_id, shop_id: t.shop.id, kind, at: 1 });
    const shop = erasure('shops', t.shop.id);
    for (const wrong of [[...lines, '{"subject_id":"x"}'], ['nonsense'], [...lines, '', '']])
      expect(await restore(signedBy(t, wrong))).toMatch(/line \d of \S+ cannot be read: nothing was changed/);
    expect(await failing(['restore', file, '--erasures', '/nowhere'], target)).toMatch(/no such file/);
    const forged = `${lines.join('\n')}\n${shop}\n${list.trim().split('\n').at(-1)}\n`;
    const notSigned =
      /is not signed with the key of this installation, or was changed since: nothing was changed/;
    for (const text of [shop, `${shop}\n`, '\n', forged, list.replace('"at":', '"at":1'), `${list}${shop}\n`])
      expect(await failing(apply(text, '--confirm'), t.env)).toMatch(notSigned);
    expect(await restore(forged)).toMatch(notSigned);
    const ofShop = await failing(apply(signedBy(t, [shop])), t.env);
    expect(ofShop).toContain(`the list deletes the shop ${t.shop.name} (${t.shop.id}): add --confirm`);
    expect(await restore(list)).toMatch(/the list deletes the account \S+@\S+ \(.*: add --confirm/);
    expect(await failing(apply(`${shop}\n`, '--unsigned'), t.env)).toContain('--confirm');
    expect(await admin.get('/session')).toHaveStatus(200);
    // A list with all Admins of the shop: the last one stays.
    const admins = t.ctx.db.selectFrom('users').select('id').where('role', '=', 'ADMIN');
    const all = (await admins.execute()).map(({ id }) => erasure('users', id));
    expect(await runHere(apply(signedBy(t, all), '--confirm'), t.env)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('1 erasures could not be done now'),
    });
    expect(await doctor(t.env)).toMatchObject({
      state: 'warn',
      message: expect.stringMatching(/^1 unfinished: /),
    });
    expect(await admins.execute()).toHaveLength(1);
    expect((await cliHere(['restore', file], target)).verified).toBe(true);
  });
});
