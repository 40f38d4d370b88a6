import { describe, expect, it } from 'vitest';
import { DUMMY_HASH, hashPassword, isPassword, LANES, runInKnownLane } from '../../src/staff/passwords.ts';
import { base32, codeAt, otpauthUri, timeStepAt, timeStepOf } from '../../src/staff/second-factor.ts';

const SECRET = Buffer.from('12345678901234567890');

describe('known people of one shop', () => {
  it('are refused beyond twenty at once, while those of another shop wait for their turn', async () => {
    const release = await LANES.known.take();
    const own = Array.from({ length: 20 }, () => runInKnownLane('flooded', async () => 'checked'));
    await expect(runInKnownLane('flooded', async () => 'checked')).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
    const other = runInKnownLane('other', async () => 'checked');
    release();
    expect(await other).toBe('checked');
    expect(await Promise.all(own)).toEqual(Array(20).fill('checked'));
    expect(await runInKnownLane('flooded', async () => 'checked')).toBe('checked');
  });
});

describe('codes of an authenticator app', () => {
  // RFC 6238, appendix B, SHA-1: its eight digits end in our six.
  it.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('at %d s match the RFC', (seconds, digits) => {
    expect(codeAt(SECRET, timeStepAt(seconds * 1000))).toBe(digits.slice(-6));
  });

  // RFC 4226, appendix D.
  it('match the RFC by counter', () => {
    const codes = Array.from({ length: 10 }, (_, counter) => codeAt(SECRET, counter));
    expect(codes).toEqual('755224 287082 359152 969429 338314 254676 287922 162583 399871 520489'.split(' '));
  });

  it('are valid one step early and one step late, but not two', () => {
    const nowMs = 1_700_000_000_000;
    const step = timeStepAt(nowMs);
    expect([-2, -1, 0, 1, 2].map((apart) => timeStepOf(SECRET, codeAt(SECRET, step + apart), nowMs))).toEqual(
      [null, step - 1, step, step + 1, null],
    );
    for (const nonsense of ['', '1', '１２３４５６', 'abcdef', '0'.repeat(1000)])
      expect(timeStepOf(SECRET, nonsense, nowMs)).toBeNull();
  });

  it('use a Base32 secret (RFC 4648), in an address that apps read', () => {
    const texts = ['', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar'];
    expect(texts.map((text) => base32(Buffer.from(text)))).toEqual(
      ',MY,MZXQ,MZXW6,MZXW6YQ,MZXW6YTB,MZXW6YTBOI'.split(','),
    );
    expect(otpauthUri(SECRET, 'ada+x@example.com')).toBe(
      'otpauth://totp/Handback:ada%2Bx%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Handback',
    );
  });
});

const costs = (hash: string): string => hash.split('$').slice(0, 4).join('$');

describe('passwords', () => {
  it('take as long to compare with the dummy hash as with a real one', async () => {
    const hash = await hashPassword('correct horse');
    expect(costs(hash)).toBe('$argon2id$v=19$m=19456,t=2,p=1');
    expect(costs(DUMMY_HASH)).toBe(costs(hash));
    expect(DUMMY_HASH).toHaveLength(hash.length);
  });

  it('are never correct without a hash', async () => {
    for (const password of ['x'.repeat(20), '', 'correct horse'])
      expect(await isPassword(null, password)).toBe(false);
  });

  it('have another hash each time', async () => {
    expect(await hashPassword('correct horse')).not.toBe(await hashPassword('correct horse'));
  });
});
