import { describe, expect, it } from 'vitest';
import { DUMMY_HASH, hashPassword, isPassword } from '../../src/staff/passwords.ts';

const costs = (hash: string): string => hash.split('$').slice(0, 4).join('$');

describe('passwords', () => {
  it('cost as much to compare with the dummy hash as with a real one', async () => {
    const hash = await hashPassword('correct horse');
    expect(costs(hash)).toBe('$argon2id$v=19$m=19456,t=2,p=1');
    expect(costs(DUMMY_HASH)).toBe(costs(hash));
    expect(DUMMY_HASH).toHaveLength(hash.length);
  });

  it('are never the right one where there is no hash', async () => {
    for (const password of ['x'.repeat(20), '', 'correct horse'])
      expect(await isPassword(null, password)).toBe(false);
  });

  it('have another hash each time', async () => {
    expect(await hashPassword('correct horse')).not.toBe(await hashPassword('correct horse'));
  });
});
