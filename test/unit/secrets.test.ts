import { describe, expect, it } from 'vitest';
import { type SealedFor, secretBox } from '../../src/service/secrets.ts';

const KEY = 'k'.repeat(32);
const OTHER_KEY = 'o'.repeat(32);
const PLACE: SealedFor = { table: 'api_clients', column: 'webhook_secret', id: 'client-1' };

describe('the secret box', () => {
  const box = secretBox([KEY]);

  it('opens what it sealed, and never seals the same twice', () => {
    const [one, other] = [box.seal('whsec_ä', PLACE), box.seal('whsec_ä', PLACE)];
    expect(box.open(one, PLACE)).toBe('whsec_ä');
    expect(one).not.toBe(other);
    expect(Buffer.from(one.split('.')[2] ?? '', 'base64').toString('latin1')).not.toContain('whsec_');
  });

  it('refuses what was changed by one bit, cut, or sealed with another key', () => {
    const sealed = Buffer.from(box.seal('secret 123456', PLACE));
    for (let i = 0; i < sealed.length; i++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
      // The last character before the padding has bits that stand for nothing.
      if (
        sealed
          .toString()
          .slice(i + 1)
          .replaceAll('=', '') === ''
      )
        continue;
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
    // The id tells the two apart and has nothing of the key in it.
    const ids = [old, sealed].map((each) => each.split('.')[1] ?? '');
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}$/);
  });

  it('knows its own signatures, for one purpose and text each, through a change of keys', () => {
    const [signature = ''] = box.signatures('device', 'user-1');
    expect(secretBox([OTHER_KEY, KEY]).signatures('device', 'user-1')[1]).toBe(signature);
    expect(secretBox([OTHER_KEY, KEY]).isSigned('device', 'user-1', signature)).toBe(true);
    expect(box.isSigned('device', 'user-2', signature)).toBe(false);
    expect(box.isSigned('session', 'user-1', signature)).toBe(false);
    expect(secretBox([OTHER_KEY]).isSigned('device', 'user-1', signature)).toBe(false);
    for (const wrong of ['', 'x', signature.slice(1), `${signature}AAAA`])
      expect(box.isSigned('device', 'user-1', wrong)).toBe(false);
  });

  it('opens and knows what was sealed and signed by an earlier process with the same key', () => {
    const sealed = 'v1.5d4181c4.nAX0ACRiXudPwoNsQIHuf0kqJd3m4XswUFPkjR2gib2gYTeE';
    expect(box.open(sealed, PLACE)).toBe('whsec_ä');
    expect(box.isCurrent(sealed)).toBe(true);
    expect(box.signatures('device', 'user-1')).toEqual(['lp9JG1R3k5J-5QDNkq32eRAG__753r51lHFdLckrCVA']);
  });

  it('opens nothing that only holds something sealed, and says why', () => {
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
