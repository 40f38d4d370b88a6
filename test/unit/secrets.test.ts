import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { secretBox, secretKeyOf } from '../../src/secrets.ts';
import { cli, run, temporaryFolder } from '../support/process.ts';

describe('the secret box', () => {
  const box = secretBox('k'.repeat(32));

  it('opens what it sealed, and never seals the same twice', () => {
    const [one, other] = [box.seal('whsec_ä'), box.seal('whsec_ä')];
    expect(box.open(one)).toBe('whsec_ä');
    expect(one).not.toBe(other);
    expect(Buffer.from(one, 'base64').toString('latin1')).not.toContain('whsec_');
  });

  it('refuses what was changed by one bit, cut, or sealed with another key', () => {
    const sealed = Buffer.from(box.seal('secret'), 'base64');
    for (let i = 0; i < sealed.length; i++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
      expect(() => box.open(changed.toString('base64'))).toThrow();
    }
    expect(() => box.open(sealed.subarray(0, -1).toString('base64'))).toThrow();
    expect(() => secretBox('j'.repeat(32)).open(sealed.toString('base64'))).toThrow();
  });
});

describe('the generated key', () => {
  it('is made once, kept, and readable by its owner only', () => {
    const dataDir = temporaryFolder();
    const key = secretKeyOf({ secretKey: null, dataDir });
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(secretKeyOf({ secretKey: null, dataDir })).toBe(key);
    expect(statSync(join(dataDir, 'secret.key')).mode & 0o777).toBe(0o600);
  });

  it('stays out of the way where SECRET_KEY is set', async () => {
    const dataDir = temporaryFolder();
    await cli(['shop', 'list'], { DATA_DIR: dataDir, SECRET_KEY: 'k'.repeat(32) });
    expect(() => readFileSync(join(dataDir, 'secret.key'))).toThrow();
  });

  // A process that ends between making the file and filling it leaves it empty; so does a full disk.
  it('is never empty: nothing is sealed with a key that everybody knows', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    mkdirSync(dataDir);
    const file = join(dataDir, 'secret.key');
    writeFileSync(file, '');
    const { status, stderr } = await run(['shop', 'list', '--json'], { DATA_DIR: dataDir });
    if (status === 0) expect(readFileSync(file, 'utf8').trim().length).toBeGreaterThanOrEqual(32);
    else expect(stderr).toMatch(/^handback: [^\n]*(secret\.key|SECRET_KEY)[^\n]*\n$/);
  });
});
