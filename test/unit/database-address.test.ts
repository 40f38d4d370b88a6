import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../src/db/server-address.ts';
import { readConfig } from '../../src/platform/config.ts';

const SECRET_KEY = 'k'.repeat(32);

describe('DATABASE_URL', () => {
  it.each([
    ['postgres://u:p@a:5432/db', ['postgres://u:p@a:5432/db'], false],
    ['postgresql://a/db', ['postgresql://a/db'], false],
    ['postgres:///db?host=/run/postgresql', ['postgres:///db?host=/run/postgresql'], false],
    [
      'postgres://a/db?target_session_attrs=read-write',
      ['postgres://a/db?target_session_attrs=read-write'],
      true,
    ],
    ['postgres://u:p@a:5432,b:5433/db', ['postgres://u:p@a:5432/db', 'postgres://u:p@b:5433/db'], true],
    [
      'postgres://u@a,b:5433,c/db',
      ['postgres://u@a/db', 'postgres://u@b:5433/db', 'postgres://u@c/db'],
      true,
    ],
    [
      'postgres://[::1]:5432,[2001:db8::2]/db',
      ['postgres://[::1]:5432/db', 'postgres://[2001:db8::2]/db'],
      true,
    ],
    [
      'postgres://u:p%2C%40%2F,@x@a,b/db',
      ['postgres://u:p%2C%40%2F,@x@a/db', 'postgres://u:p%2C%40%2F,@x@b/db'],
      true,
    ],
    [
      'postgres://a,b/db?target_session_attrs=any&sslmode=verify-full',
      [
        'postgres://a/db?target_session_attrs=any&sslmode=verify-full',
        'postgres://b/db?target_session_attrs=any&sslmode=verify-full',
      ],
      false,
    ],
  ])('%s is parsed', (text, urls, mustTakeWrites) => {
    expect(parseAddress(text)).toEqual({ urls, mustTakeWrites });
    expect(readConfig({ DATABASE_URL: text, SECRET_KEY }).databaseUrl).toBe(text);
  });

  it.each([
    ['mysql://u:hunter2@a,b/db', /PostgreSQL address/],
    ['postgres://u:hunter2@a:port,b/db', /PostgreSQL address/],
    ['postgres://u:hunter2@a:5432,b:70000/db', /PostgreSQL address/],
    ['postgres://u:hunter2@[::1,b/db', /PostgreSQL address/],
    ['postgres://u:hunter2@a,/db', /PostgreSQL address/],
    ['postgres://u:hunter2@,b/db', /PostgreSQL address/],
    ['postgres://a,/db?password=hunter2', /PostgreSQL address/],
    ['postgres://u:hunter2@a,,b/db', /PostgreSQL address/],
    ['postgres:///db?host=a,b&password=hunter2', /several hosts/],
    ['postgres://u:hunter2@a,b/db?port=5433', /several hosts/],
    ['postgres://u:hunter2@a,b/db?target_session_attrs=standby', /read-write or any/],
    ['postgres://u:hunter2@a/db?target_session_attrs=prefer-standby', /read-write or any/],
    ['postgres://u:hunter2@a/db?target_session_attrs=', /read-write or any/],
    ['postgres://u:hunter2@a/db?target_session_attrs=constructor', /read-write or any/],
  ])('%s is refused with one line that does not repeat it', (text, words) => {
    const refusal = () => readConfig({ DATABASE_URL: text, SECRET_KEY });
    expect(refusal).toThrow(words);
    expect(refusal).toThrow(/^DATABASE_URL [^\n]+$/);
    expect(refusal).not.toThrow(/hunter2/);
  });
});
