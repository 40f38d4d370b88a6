import { QueueTimeout } from '../lib/batch.ts';

/** `passes`: another try may find it gone, so a start waits for that. `permanent`: no later try helps, callers get a 500. */
type ErrorClass = readonly [pattern: RegExp, reason?: string | null, kind?: 'passes' | 'permanent'];

/** What is said of a server that takes writes, but is older than one that was used since. */
export const REPLACED = 'Another server was promoted after this one';

const LOGIN_FAILED = 'the server refused the user name or password';

/** The database cannot be used now: callers get a 503, and a 500 for any other code, unless a connection was being opened. */
const BY_CODE: ErrorClass[] = [
  [/^25006/, 'it is read-only: a standby, or set so'],
  // A transaction that the server ended, since it was idle or took too long.
  [/^25P0/],
  [/^28P01/, LOGIN_FAILED],
  [
    /^28/,
    'the server does not let this user in from here: check the user name, pg_hba.conf there, and whether it asks for TLS (sslmode) or a client certificate',
  ],
  [/^3D000/, 'there is no such database on the server'],
  // A conflict with another transaction, a deadlock.
  [/^40/],
  [/^42501/, 'the user lacks a right there: to connect, or to create, read or write tables'],
  [/^531/, "the server's disk is full: free some space there"],
  [/^532/, 'the server lacks memory'],
  [
    /^533/,
    'the server has no connection left: raise max_connections there to processes × 25 and ten more, or lower DATABASE_POOLS',
    'passes',
  ],
  [/^53/, 'the server has reached a limit that it is configured with', 'passes'],
  [/^57P01/, 'the server is stopping, or an administrator ended the connection', 'passes'],
  [/^57P02/, 'a process of the server crashed; it is starting again', 'passes'],
  [/^57P03/, 'the server is starting', 'passes'],
  [/^(08|57P)/, 'the server ended the connection, or takes none', 'passes'],
  // Only where a connection was being opened.
  [/^55000/, 'the database is set to allow no connections', 'permanent'],
  // A lock, or a statement, that took too long.
  [/^(55P03|57014)/, null, 'passes'],
  [/^58/, "the server's disk or files fail"],
  [/^(ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_|EHOST|ENET)/, 'the server cannot be reached', 'passes'],
  [/^ERR_TLS_CERT_ALTNAME/, "the server's certificate is for another name: use the host name in it"],
  [/^CERT_(HAS_EXPIRED|NOT_YET)/, "the server's certificate has expired, or is not valid yet"],
  [
    /^(DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|CERT_)/,
    "no authority that is trusted here has signed the server's certificate: add sslrootcert=FILE with the one that has",
  ],
  [
    /^ERR_(TLS|SSL|OSSL)_/,
    'TLS cannot be used with the server; are sslrootcert, sslcert and sslkey PEM files?',
  ],
  [/^SQLITE_BUSY/, 'another process holds it for too long'],
  [/^SQLITE_(LOCKED|ABORT)/],
  [/^SQLITE_FULL/, 'the disk is full'],
  [/^SQLITE_READONLY/, 'its folder or file is read-only'],
  [/^SQLITE_CANTOPEN/, 'its file cannot be opened'],
  [/^SQLITE_IOERR/, 'reading or writing its file failed; is the disk full or broken?'],
  [/^SQLITE_(NOTADB|CORRUPT)/, 'handback.sqlite is not a sound SQLite file', 'permanent'],
];

/** The driver's own errors, and ours, by their messages. */
const BY_MESSAGE: ErrorClass[] = [
  [
    new RegExp(`^${REPLACED}`),
    'another server was promoted after it; if it is to be used all the same, restart the service',
  ],
  [
    /^(Query read timeout|timeout expired|timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Client was closed|Postgres connection has been discarded)/,
    'the server does not answer',
    'passes',
  ],
  [/^SASL: /, LOGIN_FAILED],
  [
    /^no pg_hba\.conf entry .* (no encryption|SSL off)$/,
    'the server lets this user in from here only over TLS, or not at all: add sslmode=verify-full, or a line to pg_hba.conf there',
  ],
  // Of the same code as one that starts.
  [/^the database system is shutting down/, 'the server is stopping', 'passes'],
  [
    /^The server does not support SSL/,
    'the server has no TLS: switch it on there (ssl = on), or use sslmode=disable in a network that you trust',
  ],
];

/** What the driver, or Node, calls an error; empty where it has no name. */
const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const CONNECTING = Symbol('while connecting');

const SERVER = Symbol('which server');

/** For an error that came from this server: its messages name host and port, never the login. */
export const fromServer = (error: unknown, url: string): unknown => {
  const { hostname, port, searchParams } = new URL(url);
  const server = `${searchParams.get('host') ?? hostname}:${port || (searchParams.get('port') ?? 5432)}`;
  return error instanceof Error && !(SERVER in error) ? Object.assign(error, { [SERVER]: server }) : error;
};

/** Takes what opens a connection. If that fails, the database is not available, whatever the reason. */
export const whileConnecting = <Value>(connection: Promise<Value>): Promise<Value> =>
  connection.catch((error) => {
    throw Object.assign(error, { [CONNECTING]: true });
  });

const classOf = (error: Error): ErrorClass | undefined =>
  BY_MESSAGE.find(([pattern]) => pattern.test(error.message)) ??
  BY_CODE.find(([pattern]) => pattern.test(codeOf(error)));

/** Whether the database could not be reached or could not write: worth trying again later. */
export const isUnavailable = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  if (CONNECTING in error || error instanceof QueueTimeout || isConflict(error)) return true;
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  const found = classOf(error);
  return found !== undefined && found[2] !== 'permanent';
};

/** Whether the server could not be reached, did not answer in time or takes no connections yet: another try may find it. */
export const isAway = (error: unknown): boolean => {
  if (error instanceof AggregateError) return error.errors.some(isAway);
  return error instanceof Error && classOf(error)?.[2] === 'passes';
};

/** Two transactions were in conflict, or a plan is out of date: the same again will work. */
export const isConflict = (error: unknown): boolean => /^40/.test(codeOf(error)) || isStalePlan(error);

/** A prepared statement that the server forgot, or whose result another release has given another shape: prepare it again. */
export const isStalePlan = (error: unknown): boolean =>
  codeOf(error) === '26000' ||
  (codeOf(error) === '0A000' && /^cached plan must not change/.test((error as Error).message));

/** The server answers and reads, but stores nothing: it is read-only, a standby, or its disk is full. */
export const takesNoWrites = (error: unknown): boolean =>
  /^(25006|53100)$/.test(codeOf(error)) ||
  // A standby, asked for a table that is not replicated.
  (codeOf(error) === '0A000' && / during recovery$/.test((error as Error).message));

export const isOutOfConnections = (error: unknown): boolean => codeOf(error) === '53300';

/** Another transaction holds a lock for longer than this statement may wait. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03';

const MOST_TRIES = 3;

/** For a transaction that may meet a deadlock. */
export const retryConflicts = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  for (let tries = 1; ; tries++)
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || tries === MOST_TRIES) throw error;
    }
};

/** For batches of statements (`lib/batch.ts`): a conflict may be gone at the next try; a database that is away would only take longer. */
export const afterFailure = (error: unknown): 'split' | 'retry' | 'fail' => {
  if (isConflict(error)) return 'retry';
  return isUnavailable(error) ? 'fail' : 'split';
};

export const isDuplicate = (error: unknown): boolean =>
  /^(23505|SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY))$/.test(codeOf(error));

/** What can be said of a database error without its message or detail, which may quote a customer's data; null: it is another error. */
export const describeDatabaseError = (error: unknown) => {
  const code = codeOf(error);
  if (code === '') return null;
  const { table, constraint, severity } = error as { table?: string; constraint?: string; severity?: string };
  if (!severity && !code.startsWith('SQLITE_')) return null;
  const reason = reasonOf(error);
  return { code, ...(reason && { reason }), ...(table && { table }), ...(constraint && { constraint }) };
};

/** What the operator has to look at, in words; null where the code alone says enough. */
export const reasonOf = (error: unknown): string | null => {
  // One for each address or host that was tried.
  if (error instanceof AggregateError)
    return [...new Set(error.errors.map(reasonOf))].filter(Boolean).join('; ') || null;
  const reason = error instanceof Error && classOf(error)?.[1];
  if (!reason) return null;
  if (codeOf(error).startsWith('SQLITE_')) return `${reason} (DATA_DIR)`;
  return `${reason} (${SERVER in error ? `${error[SERVER]}, ` : ''}DATABASE_URL)`;
};
