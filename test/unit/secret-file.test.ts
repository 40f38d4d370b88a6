import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keysInFile } from '../../src/service/secrets.ts';
import { cli, run, temporaryFolder } from '../support/process.ts';

const KEY = 'k'.repeat(32);
const OTHER_KEY = 'o'.repeat(32);

describe('the generated key', () => {
  it('is made once, kept, and readable by its owner only', () => {
    const dataDir = temporaryFolder();
    const [key] = keysInFile(dataDir, false);
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(keysInFile(dataDir, false)).toEqual([key]);
    expect(statSync(join(dataDir, 'secret.key')).mode & 0o777).toBe(0o600);
  });

  it('may have successors: several keys, by lines or commas', () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, 'secret.key'), `${OTHER_KEY}\n${KEY}\n`);
    expect(keysInFile(dataDir, true)).toEqual([OTHER_KEY, KEY]);
    writeFileSync(join(dataDir, 'secret.key'), `${OTHER_KEY},${KEY}`);
    expect(keysInFile(dataDir, true)).toEqual([OTHER_KEY, KEY]);
  });

  it('stays out of the way where SECRET_KEY is set', async () => {
    const dataDir = temporaryFolder();
    await cli(['shop', 'list'], { DATA_DIR: dataDir, SECRET_KEY: KEY });
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
