import { QueueTimeout } from '../lib/batch.ts';

/** What can be said of a database error without its message or detail, which may quote a customer's data. */
export interface DatabaseErrorDetails {
  code: string;
  table?: string;
  constraint?: string;
  /** What the operator has to look at, where there is something. */
  reason?: string;
}

interface DriverError extends Error {
  code?: string;
  table?: string;
  constraint?: string;
  severity?: string;
}

interface ErrorClass {
  codes: RegExp;
  reason?: string;
  /** Another try may find it gone: a start waits for that. */
  passes?: true;
}

const NO_CONNECTIONS = 'the server takes no connections right now (DATABASE_URL)';

/**
 * Errors that say the database cannot be used now, by their codes: callers get a 503. Any other code of a statement is a mistake
 * of ours, a 500. While a connection is being made every error is one of these, whatever its code (`whileConnecting`).
 */
const UNAVAILABLE: ErrorClass[] = [
  { codes: /^08/, reason: NO_CONNECTIONS, passes: true },
  { codes: /^25006/, reason: 'it is read-only: a standby, or set so (DATABASE_URL)' },
  // A transaction that the server ended, since it was idle or took too long.
  { codes: /^25P0/ },
  { codes: /^28/, reason: 'the server refused the user name or password (DATABASE_URL)' },
  { codes: /^3D000/, reason: 'there is no such database on the server (DATABASE_URL)' },
  // A conflict with another transaction, a deadlock.
  { codes: /^40/ },
  {
    codes: /^42501/,
    reason: 'the user lacks a right there: to connect, or to create, read or write tables (DATABASE_URL)',
  },
  { codes: /^53[12]/, reason: "the server's disk is full, or it lacks memory (DATABASE_URL)" },
  { codes: /^53300/, reason: NO_CONNECTIONS, passes: true },
  { codes: /^53/, reason: NO_CONNECTIONS },
  // A lock, or a statement, that took too long.
  { codes: /^(55P03|57014)/, passes: true },
  { codes: /^57P/, reason: NO_CONNECTIONS, passes: true },
  { codes: /^58/, reason: "the server's disk or files fail (DATABASE_URL)" },
  {
    codes: /^(ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_|EHOST|ENET)/,
    reason: 'the server cannot be reached (DATABASE_URL)',
    passes: true,
  },
  // The driver's own: a certificate that does not hold.
  {
    codes: /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/,
    reason: "the server's certificate does not hold (DATABASE_URL)",
  },
  { codes: /^SQLITE_BUSY/, reason: 'another process holds it for too long' },
  { codes: /^SQLITE_(LOCKED|ABORT)/ },
  { codes: /^SQLITE_FULL/, reason: 'the disk is full (DATA_DIR)' },
  { codes: /^SQLITE_READONLY/, reason: 'its folder or file is read-only (DATA_DIR)' },
  { codes: /^SQLITE_CANTOPEN/, reason: 'its file cannot be opened (DATA_DIR)' },
  {
    codes: /^SQLITE_IOERR/,
    reason: 'reading or writing its file failed; is the disk full or broken? (DATA_DIR)',
  },
];
/** Others that the operator can do something about. */
const REASONS: ErrorClass[] = [
  { codes: /^SQLITE_(NOTADB|CORRUPT)/, reason: 'handback.sqlite is not a sound SQLite file (DATA_DIR)' },
  // The database is set to allow no connections; only where one was being made.
  { codes: /^55000/, reason: NO_CONNECTIONS },
];
const CLIENT_AWAY =
  /^(Query read timeout|timeout expired|timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Client was closed|Postgres connection has been discarded)/;

// The driver's own: a password that is missing, a server without TLS.
const LOGIN_FAILED = /^SASL: /;
const NO_TLS = /^The server does not support SSL/;

/** What is said of a server that takes writes, but is older than one that was used since. */
export const REPLACED = 'Another server was promoted after this one';

const isDriverError = (error: unknown): error is DriverError => error instanceof Error;

const CONNECTING = Symbol('while connecting');

/** Takes what makes a connection. If that fails, the database is not available, whatever the reason. */
export const whileConnecting = <Value>(connection: Promise<Value>): Promise<Value> =>
  connection.catch((error) => {
    throw Object.assign(error, { [CONNECTING]: true });
  });

/** Whether the database could not be reached or could not write: worth trying again later. */
export const isUnavailable = (error: unknown): boolean => {
  if (!isDriverError(error)) return false;
  if (CONNECTING in error || error instanceof QueueTimeout || isConflict(error)) return true;
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  const { code = '', message } = error;
  return (
    UNAVAILABLE.some(({ codes }) => codes.test(code)) ||
    [CLIENT_AWAY, LOGIN_FAILED, NO_TLS].some((words) => words.test(message))
  );
};

/** Whether the server could not be reached, did not answer in time or takes no connections yet: another try may find it. */
export const isAway = (error: unknown): boolean => {
  if (error instanceof AggregateError) return error.errors.some(isAway);
  if (!isDriverError(error)) return false;
  const { code = '', message } = error;
  return UNAVAILABLE.some(({ codes, passes }) => passes && codes.test(code)) || CLIENT_AWAY.test(message);
};

/** Two transactions stood in each other's way, or a plan is out of date: the same again will work. */
export const isConflict = (error: unknown): boolean =>
  isDriverError(error) && (/^40/.test(error.code ?? '') || isStalePlan(error));

/** A prepared statement that the server forgot, or whose result another release has given another shape: prepare it again. */
export const isStalePlan = (error: unknown): boolean =>
  isDriverError(error) &&
  (error.code === '26000' || (error.code === '0A000' && /^cached plan must not change/.test(error.message)));

/** Another transaction holds a lock for longer than this statement may wait. */
export const isLockTimeout = (error: unknown): boolean => isDriverError(error) && error.code === '55P03';

const MOST_TRIES = 3;

/** Runs a transaction again that met a deadlock. */
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
  isDriverError(error) &&
  (error.code === '23505' || /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/.test(error.code ?? ''));

/** The error as a database error, or null where it is something else. */
export const describeDatabaseError = (error: unknown): DatabaseErrorDetails | null => {
  if (!isDriverError(error) || typeof error.code !== 'string') return null;
  if (!error.severity && !error.code.startsWith('SQLITE_')) return null;
  const reason = reasonOf(error);
  return {
    code: error.code,
    ...(reason ? { reason } : {}),
    ...(error.table ? { table: error.table } : {}),
    ...(error.constraint ? { constraint: error.constraint } : {}),
  };
};

const BY_MESSAGE: [RegExp, string][] = [
  [
    new RegExp(`^${REPLACED}`),
    'another server was promoted after it; if it is to be used all the same, restart the service (DATABASE_URL)',
  ],
  [CLIENT_AWAY, 'the server does not answer (DATABASE_URL)'],
  [LOGIN_FAILED, 'the server refused the user name or password (DATABASE_URL)'],
  [NO_TLS, 'the server has no TLS (DATABASE_URL)'],
];

/** What the operator has to look at, in words; null where the code alone says enough. */
export const reasonOf = (error: unknown): string | null => {
  // One for each address or host that was tried.
  if (error instanceof AggregateError)
    return [...new Set(error.errors.map(reasonOf))].filter(Boolean).join('; ') || null;
  if (!isDriverError(error)) return null;
  const { message, code = '' } = error;
  const said = BY_MESSAGE.find(([pattern]) => pattern.test(message));
  if (said) return said[1];
  return [...UNAVAILABLE, ...REASONS].find(({ codes }) => codes.test(code))?.reason ?? null;
};
