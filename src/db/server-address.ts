import { ConfigError } from '../lib/config-error.ts';

// The address of one or more PostgreSQL servers, in the form of DATABASE_URL.

const PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*)(.*)$/s;

/** Neither `URL` nor the driver supports a list of hosts. Messages never repeat the address, which may contain a password. */
export const parseAddress = (text: string, name = 'DATABASE_URL') => {
  const [, scheme = '', authority = '', rest = ''] = PARTS.exec(text) ?? [];
  // A password may contain commas, and an @ that is not encoded.
  const login = authority.slice(0, authority.lastIndexOf('@') + 1);
  const hosts = authority.slice(login.length).split(',');
  const [first, ...others] = hosts.map((host) => `${scheme}${login}${host}${rest}`);
  const isList = others.length > 0;
  const isWhole = hosts.every((host) => host || !isList);
  if (!scheme || !first || !isWhole || ![first, ...others].every((url) => URL.canParse(url)))
    throw new ConfigError(
      `${name} must be a PostgreSQL address, postgres://user:password@host:5432/database for example`,
    );
  const { searchParams } = new URL(first);
  // The driver would use these for every host.
  if (isList ? searchParams.has('host') || searchParams.has('port') : searchParams.get('host')?.includes(','))
    throw new ConfigError(
      `${name} must name several hosts before the database: postgres://…@one:5432,two:5432/…`,
    );
  const wanted = searchParams.get('target_session_attrs') ?? (isList ? 'read-write' : 'any');
  if (wanted !== 'read-write' && wanted !== 'any')
    throw new ConfigError(`${name} can have target_session_attrs=read-write or any only: Handback writes`);
  const urls: readonly [string, ...string[]] = [verified(first), ...others.map(verified)];
  return { urls, mustTakeWrites: wanted === 'read-write' };
};

/** Modes that a later driver will interpret more weakly check the certificate here. `no-verify` explicitly does not. */
const verified = (url: string): string =>
  url.includes('uselibpqcompat=true')
    ? url
    : url.replace(/([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
