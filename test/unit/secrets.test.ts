import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keysInFile, type SealedFor, secretBox } from '../../src/platform/secrets.ts';
import { cliHere, runHere } from '../support/commands-here.ts';
import { temporaryFolder } from '../support/process.ts';

const KEY = 'k'.repeat(32);
const OTHER_KEY = 'o'.repeat(32);
const PLACE: SealedFor = { table: 'api_clients', column: 'webhook_secret', id: 'client-1' };

describe('the secret box', () => {
  const box = secretBox([KEY]);

  it('opens what it sealed, and never produces the same text twice', () => {
    const [one, other] = [box.seal('whsec_ä', PLACE), box.seal('whsec_ä', PLACE)];
    expect(box.open(one, PLACE)).toBe('whsec_ä');
    expect(one).not.toBe(other);
    expect(Buffer.from(one.split('.')[2] ?? '', 'base64').toString('latin1')).not.toContain('whsec_');
  });

  it('refuses a value with a flipped bit, a truncated one, or one sealed with another key', () => {
    const sealed = Buffer.from(box.seal('secret 123456', PLACE));
    // Some bits of the last character before the padding have no meaning.
    const significant = sealed.toString().replace(/.=*$/, '').length;
    for (let i = 0; i < significant; i++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
      expect(() => box.open(changed.toString(), PLACE)).toThrow();
    }
    expect(() => box.open(sealed.subarray(0, -4).toString(), PLACE)).toThrow();
    expect(() => secretBox([OTHER_KEY]).open(sealed.toString(), PLACE)).toThrow();
  });

  it('opens a value in its own row only', () => {
    const sealed = box.seal('secret', PLACE);
    for (const other of [{ id: 'client-2' }, { column: 'name' }, { table: 'users' }])
      expect(() => box.open(sealed, { ...PLACE, ...other })).toThrow();
  });

  it('seals with the first of several keys, and opens with all of them', () => {
    const rotated = secretBox([OTHER_KEY, KEY]);
    const old = box.seal('secret', PLACE);
    expect(rotated.open(old, PLACE)).toBe('secret');
    expect([rotated.isCurrent(old), box.isCurrent(old)]).toEqual([false, true]);
    const sealed = rotated.seal('secret', PLACE);
    expect(secretBox([OTHER_KEY]).open(sealed, PLACE)).toBe('secret');
    expect(() => box.open(sealed, PLACE)).toThrow();
    // The id distinguishes the two keys and reveals nothing of them.
    const ids = [old, sealed].map((each) => each.split('.')[1] ?? '');
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}$/);
  });

  it('verifies its own signatures, for one purpose and text each, across a change of keys', () => {
    const [signature = ''] = box.signatures('device', 'user-1');
    expect(secretBox([OTHER_KEY, KEY]).signatures('device', 'user-1')[1]).toBe(signature);
    expect(secretBox([OTHER_KEY, KEY]).isSigned('device', 'user-1', signature)).toBe(true);
    expect(box.isSigned('device', 'user-2', signature)).toBe(false);
    expect(box.isSigned('session', 'user-1', signature)).toBe(false);
    expect(secretBox([OTHER_KEY]).isSigned('device', 'user-1', signature)).toBe(false);
    for (const wrong of ['', 'x', signature.slice(1), `${signature}AAAA`])
      expect(box.isSigned('device', 'user-1', wrong)).toBe(false);
  });

  it('opens and verifies what an earlier process sealed and signed with the same key', () => {
    const sealed = 'v1.5d4181c4.nAX0ACRiXudPwoNsQIHuf0kqJd3m4XswUFPkjR2gib2gYTeE';
    expect(box.open(sealed, PLACE)).toBe('whsec_ä');
    expect(box.isCurrent(sealed)).toBe(true);
    expect(box.signatures('device', 'user-1')).toEqual(['lp9JG1R3k5J-5QDNkq32eRAG__753r51lHFdLckrCVA']);
  });

  it('does not open a text that only contains a sealed value, and says why', () => {
    const sealed = box.seal('secret', PLACE);
    for (const around of [`x${sealed}`, `${sealed} `, `${sealed}.`]) {
      expect(() => box.open(around, PLACE)).toThrow('no listed key fits it');
      expect(box.isCurrent(around)).toBe(false);
    }
  });

  it('needs a key', () => {
    expect(() => secretBox([])).toThrow('a secret box needs a key');
  });
});

describe('the generated key', () => {
  it('is created once, kept, and readable by its owner only', () => {
    const dataDir = temporaryFolder();
    const [key] = keysInFile(dataDir, false);
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(keysInFile(dataDir, false)).toEqual([key]);
    expect(statSync(join(dataDir, 'secret.key')).mode & 0o777).toBe(0o600);
  });

  it('may have successors: several keys, separated by lines or commas', () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, 'secret.key'), `${OTHER_KEY}\n${KEY}\n`);
    expect(keysInFile(dataDir, true)).toEqual([OTHER_KEY, KEY]);
    writeFileSync(join(dataDir, 'secret.key'), `${OTHER_KEY},${KEY}`);
    expect(keysInFile(dataDir, true)).toEqual([OTHER_KEY, KEY]);
  });

  it('is ignored if SECRET_KEY is set', async () => {
    const dataDir = temporaryFolder();
    await cliHere(['migrate'], { DATA_DIR: dataDir, SECRET_KEY: KEY });
    expect(() => readFileSync(join(dataDir, 'secret.key'))).toThrow();
  });

  // A process that ends between making the file and filling it leaves it empty; so does a full disk.
  it('is never empty, so nothing is sealed with a known key', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    mkdirSync(dataDir);
    const file = join(dataDir, 'secret.key');
    writeFileSync(file, '');
    const { status, stderr } = await runHere(['migrate', '--json'], { DATA_DIR: dataDir });
    if (status === 0) expect(readFileSync(file, 'utf8').trim().length).toBeGreaterThanOrEqual(32);
    else expect(stderr).toMatch(/^handback: [^\n]*(secret\.key|SECRET_KEY)[^\n]*\n$/);
  });
});
