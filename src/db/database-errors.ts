import { QueueTimeout } from '../lib/batch.ts';

/** `temporary`: it may end by itself, so a starting service waits. `permanent`: no retry helps, and callers get a 500. */
type ErrorClass = readonly [pattern: RegExp, reason?: string | null, kind?: 'temporary' | 'permanent'];

/** The reason for refusing a server that accepts writes, but was replaced by a later promotion. */
export const REPLACED = 'Another server was promoted after this one';

const LOGIN_FAILED = 'the server refused the user name or password';

/** Codes for an unavailable database, for which callers get a 503. Other codes are a 500, unless a connection was being opened. */
const BY_CODE: ErrorClass[] = [
  [/^25006/, 'it is read-only: a standby, or configured that way'],
  // The server ended a transaction that was idle or took too long.
  [/^25P0/],
  [/^28P01/, LOGIN_FAILED],
  [
    /^28/,
    'the server does not let this user in from here: check the user name, pg_hba.conf there, and whether it asks for TLS (sslmode) or a client certificate',
  ],
  [/^3D000/, 'there is no such database on the server'],
  // A conflict with another transaction, or a deadlock.
  [/^40/],
  [/^42501/, 'the user lacks a right there: to connect, or to create, read or write tables'],
  [/^531/, "the server's disk is full: free some space there"],
  [/^532/, 'the server lacks memory'],
  [
    /^533/,
    'the server has no connection left: raise max_connections there to processes × 25 and ten more, or lower DATABASE_POOLS',
    'temporary',
  ],
  [/^53/, 'the server has reached a limit that it is configured with', 'temporary'],
  [/^57P01/, 'the server is stopping, or an administrator ended the connection', 'temporary'],
  [/^57P02/, 'a process of the server crashed; it is starting again', 'temporary'],
  [/^57P03/, 'the server is starting', 'temporary'],
  [/^(08|57P)/, 'the server ended the connection, or takes none', 'temporary'],
  // This code only counts while a connection is being opened.
  [/^55000/, 'the database is set to allow no connections', 'permanent'],
  // A lock or a statement took too long.
  [/^(55P03|57014)/, null, 'temporary'],
  [/^58/, "the server's disk or files fail"],
  [/^(ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_|EHOST|ENET)/, 'the server cannot be reached', 'temporary'],
  [/^ERR_TLS_CERT_ALTNAME/, "the server's certificate is for another name: use the host name in it"],
  [/^CERT_(HAS_EXPIRED|NOT_YET)/, "the server's certificate has expired, or is not valid yet"],
  [
    /^(DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|CERT_)/,
    "the server's certificate is not signed by an authority that is trusted here: add sslrootcert=FILE with that authority's certificate",
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
  [/^SQLITE_(NOTADB|CORRUPT)/, 'handback.sqlite is damaged or not a SQLite file', 'permanent'],
];

const BY_MESSAGE: ErrorClass[] = [
  [
    new RegExp(`^${REPLACED}`),
    'another server was promoted later; to use this one anyway, restart the service',
  ],
  [
    /^(Query read timeout|timeout expired|timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Client was closed|Postgres connection has been discarded)/,
    'the server does not answer',
    'temporary',
  ],
  [/^SASL: /, LOGIN_FAILED],
  [
    /^no pg_hba\.conf entry .* (no encryption|SSL off)$/,
    'the server lets this user in from here only over TLS, or not at all: add sslmode=verify-full, or a line to pg_hba.conf there',
  ],
  // A stopping server has the code of a starting one.
  [/^the database system is shutting down/, 'the server is stopping', 'temporary'],
  [
    /^The server does not support SSL/,
    'the server has no TLS: switch it on there (ssl = on), or use sslmode=disable in a network that you trust',
  ],
];

/** The code of an error from the driver or Node; empty if it has none. */
const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const CONNECTING = Symbol('while connecting');

const SERVER = Symbol('which server');

/** Adds the server to an error: `reasonOf` then names host and port, never the login. */
export const withServer = (error: unknown, url: string): unknown => {
  const { hostname, port, searchParams } = new URL(url);
  const server = `${searchParams.get('host') ?? hostname}:${port || (searchParams.get('port') ?? 5432)}`;
  return error instanceof Error && !(SERVER in error) ? Object.assign(error, { [SERVER]: server }) : error;
};

/** Wraps the opening of a connection. If that fails, the database is unavailable, whatever the reason. */
export const whileConnecting = <Value>(connection: Promise<Value>): Promise<Value> =>
  connection.catch((error) => {
    throw Object.assign(error, { [CONNECTING]: true });
  });

const classOf = (error: Error): ErrorClass | undefined =>
  BY_MESSAGE.find(([pattern]) => pattern.test(error.message)) ??
  BY_CODE.find(([pattern]) => pattern.test(codeOf(error)));

/** Whether the database could not be reached or could not write, so that a later retry may succeed. */
export const isUnavailable = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  if (CONNECTING in error || error instanceof QueueTimeout || isConflict(error)) return true;
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  const found = classOf(error);
  return found !== undefined && found[2] !== 'permanent';
};

/** Whether the error may end by itself, so that a starting service waits. */
export const isTemporary = (error: unknown): boolean => {
  if (error instanceof AggregateError) return error.errors.some(isTemporary);
  return error instanceof Error && classOf(error)?.[2] === 'temporary';
};

/** Whether transactions were in conflict or a plan is outdated, so that a retry will succeed. */
export const isConflict = (error: unknown): boolean => /^40/.test(codeOf(error)) || isStalePlan(error);

/** Whether a prepared statement is unknown to the server, or its result has changed with a migration: it must be prepared again. */
export const isStalePlan = (error: unknown): boolean =>
  codeOf(error) === '26000' ||
  (codeOf(error) === '0A000' && /^cached plan must not change/.test((error as Error).message));

/** Whether the server only reads: it is read-only, a standby, or its disk is full. */
export const takesNoWrites = (error: unknown): boolean =>
  /^(25006|53100)$/.test(codeOf(error)) ||
  // A standby has this code for a table that is not replicated.
  (codeOf(error) === '0A000' && / during recovery$/.test((error as Error).message));

export const isOutOfConnections = (error: unknown): boolean => codeOf(error) === '53300';

/** Whether another transaction held a lock for longer than this statement may wait. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03';

const MOST_CONFLICTS = 3;

export const retryConflicts = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  for (let tries = 1; ; tries++)
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || tries === MOST_CONFLICTS) throw error;
    }
};

/**
 * The strategy for a failed batch (`lib/batch.ts`): a conflict is retried, while an unavailable database is not, since that takes
 * too long.
 */
export const afterFailure = (error: unknown): 'split' | 'retry' | 'fail' => {
  if (isConflict(error)) return 'retry';
  return isUnavailable(error) ? 'fail' : 'split';
};

export const isDuplicate = (error: unknown): boolean =>
  /^(23505|SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY))$/.test(codeOf(error));

/** Describes a database error without its message and detail, which may quote a customer's data; null for another error. */
export const describeDatabaseError = (error: unknown) => {
  const code = codeOf(error);
  if (code === '') return null;
  const { table, constraint, severity } = error as { table?: string; constraint?: string; severity?: string };
  if (!severity && !code.startsWith('SQLITE_')) return null;
  const reason = reasonOf(error);
  return { code, ...(reason && { reason }), ...(table && { table }), ...(constraint && { constraint }) };
};

/** What the operator should check; null if the code is enough. */
export const reasonOf = (error: unknown): string | null => {
  // It has one error for each address or host that was tried.
  if (error instanceof AggregateError)
    return [...new Set(error.errors.map(reasonOf))].filter(Boolean).join('; ') || null;
  const reason = error instanceof Error && classOf(error)?.[1];
  if (!reason) return null;
  if (codeOf(error).startsWith('SQLITE_')) return `${reason} (DATA_DIR)`;
  return `${reason} (${SERVER in error ? `${error[SERVER]}, ` : ''}DATABASE_URL)`;
};
