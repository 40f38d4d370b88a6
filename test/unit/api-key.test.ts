import { expect, it } from 'vitest';
import { isApiKey, newApiKey, newWebhookSecret } from '../../src/api-clients/authenticate.ts';
import { sha256 } from '../../src/service/secrets.ts';

const KEY = `handback_ext_${'0123456789abcdef'.repeat(3)}`;

it('keys and secrets have a name in front and 192 bits that differ each time', () => {
  expect(newApiKey()).toMatch(/^handback_ext_[0-9a-f]{48}$/);
  expect(newWebhookSecret()).toMatch(/^whsec_[0-9a-f]{48}$/);
  const made = Array.from({ length: 100 }, () => [newApiKey(), newWebhookSecret()]).flat();
  expect(new Set(made).size).toBe(200);
});

it('a key is known by its form, whole', () => {
  expect([KEY, newApiKey()].map(isApiKey)).toEqual([true, true]);
  const others = [
    '',
    KEY.slice(1),
    KEY.slice(0, -1),
    `${KEY}0`,
    ` ${KEY}`,
    `${KEY}\n`,
    `x${KEY}`,
    KEY.toUpperCase(),
    KEY.replace('f', 'g'),
    KEY.replace('handback_ext_', ''),
    KEY.replace('handback_ext_', 'whsec_'),
  ];
  expect(others.filter(isApiKey)).toEqual([]);
});

it('a key is kept as its SHA-256', () => {
  // printf 'abc' | sha256sum
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});
