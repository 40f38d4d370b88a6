/** DATABASE_URL taken apart. */
export interface PostgresAddress {
  /** One for each host that it names, in its order. */
  urls: readonly [string, ...string[]];
  /** Only a server that takes writes will do. */
  mustTakeWrites: boolean;
}

/** Which servers will do, by what `target_session_attrs` says. */
const MUST_TAKE_WRITES = new Map([
  ['read-write', true],
  ['any', false],
]);

/** What is wrong with an address; never repeats it, since it may hold a password. */
export class AddressFault extends Error {}

const PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*)(.*)$/s;

/** Several hosts are separated by commas, each with its own port: neither `URL` nor the driver knows such a list. */
export const parseAddress = (text: string): PostgresAddress => {
  const [, scheme = '', authority = '', rest = ''] = PARTS.exec(text) ?? [];
  // A password may hold commas, and an @ that nobody encoded.
  const login = authority.slice(0, authority.lastIndexOf('@') + 1);
  const hosts = authority.slice(login.length).split(',');
  const [first, ...others] = hosts.map((host) => `${scheme}${login}${host}${rest}`);
  const isList = others.length > 0;
  const isWhole = hosts.every((host) => host || !isList);
  if (!scheme || !first || !isWhole || ![first, ...others].every((url) => URL.canParse(url)))
    throw new AddressFault(
      'must be a PostgreSQL address, postgres://user:password@host:5432/database for example',
    );
  const { searchParams } = new URL(first);
  // The driver would take these for every host.
  if (isList ? searchParams.has('host') || searchParams.has('port') : searchParams.get('host')?.includes(','))
    throw new AddressFault('must name several hosts before the database: postgres://…@one:5432,two:5432/…');
  const wanted = searchParams.get('target_session_attrs') ?? (isList ? 'read-write' : 'any');
  const mustTakeWrites = MUST_TAKE_WRITES.get(wanted);
  if (mustTakeWrites === undefined)
    throw new AddressFault(
      `can have target_session_attrs=${[...MUST_TAKE_WRITES.keys()].join(' or ')} only: Handback writes`,
    );
  return { urls: [first, ...others], mustTakeWrites };
};
