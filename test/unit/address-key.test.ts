import { describe, expect, it } from 'vitest';
import { addressKey, withoutPorts } from '../../src/http/requests.ts';

describe('whom a request counts for', () => {
  it('is one IPv4 address, however it is written', () => {
    expect(addressKey('192.0.2.1')).toBe(addressKey('::ffff:192.0.2.1'));
    expect(addressKey('192.0.2.1')).not.toBe(addressKey('192.0.2.2'));
  });

  it('is everybody in one IPv6 /64', () => {
    expect(addressKey('2001:db8:1:2::1')).toBe(addressKey('2001:0db8:0001:0002:ffff:ffff:ffff:ffff'));
    expect(addressKey('2001:db8:1:2::1')).not.toBe(addressKey('2001:db8:1:3::1'));
    expect(addressKey('2001:db8:1:2::1')).not.toBe(addressKey('2001:db8::1'));
  });

  it('never mixes up the two kinds, nor fails on what is no address', () => {
    expect(addressKey('::1')).not.toBe(addressKey('127.0.0.1'));
    expect(addressKey('not an address')).toBe('not an address');
  });
});

it.each([
  ['192.0.2.1:5678', '192.0.2.1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['2001:db8::1', '2001:db8::1'],
  ['192.0.2.1:1,  10.0.0.1:2,[::1]:3', '192.0.2.1, 10.0.0.1, ::1'],
  ['nonsense:80', 'nonsense:80'],
])('of %s in X-Forwarded-For the addresses are %s', (sent, addresses) => {
  expect(withoutPorts(sent)).toBe(addresses);
});
