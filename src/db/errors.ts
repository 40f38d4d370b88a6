/** What can be said of a database error without its message or detail, which may quote a customer's data. */
export interface DatabaseFault {
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

/** It waited too long in a queue of this process, or there was no room in it. */
export class QueueTimeout extends Error {}

// Connection lost or refused, login refused, no such database, a right that is missing, server starting or stopping, read-only,
// too many connections, a statement or a lock that took too long, a deadlock.
const POSTGRES_AWAY = /^(08|28|3D000|42501|53|57P|57014|58|40|25006|25P0|55P03)/;
// Connection lost or refused, too many connections, server starting or stopping, a statement or a lock that took too long.
const POSTGRES_NOT_YET = /^(08|53300|57P|57014|55P03)/;
const SOCKET_AWAY = /^(ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_|EHOST|ENET)/;
const SQLITE_AWAY = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN)/;
const CLIENT_AWAY =
  /^(Query read timeout|timeout expired|timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Client was closed|Postgres connection has been discarded)/;

// The driver's own: a password that is missing, a certificate that does not hold, a server without TLS.
const LOGIN_FAILED = /^SASL: /;
const TLS_FAILED = /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;
const NO_TLS = /^The server does not support SSL/;

/** What is said of a server that takes writes, but is older than one that was used since. */
export const REPLACED = 'Another server was promoted after this one';

const isDriverError = (error: unknown): error is DriverError => error instanceof Error;

/** Whether the database could not be reached or could not write: worth trying again later. */
export const isUnavailable = (error: unknown): boolean => {
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  if (!isDriverError(error)) return false;
  const code = error.code ?? '';
  return (
    error instanceof QueueTimeout ||
    isConflict(error) ||
    POSTGRES_AWAY.test(code) ||
    SOCKET_AWAY.test(code) ||
    SQLITE_AWAY.test(code) ||
    TLS_FAILED.test(code) ||
    [CLIENT_AWAY, LOGIN_FAILED, NO_TLS].some((words) => words.test(error.message))
  );
};

/** Whether the server could not be reached, did not answer in time or takes no connections yet: another try may find it. */
export const isAway = (error: unknown): boolean => {
  if (error instanceof AggregateError) return error.errors.some(isAway);
  if (!isDriverError(error)) return false;
  const code = error.code ?? '';
  return POSTGRES_NOT_YET.test(code) || SOCKET_AWAY.test(code) || CLIENT_AWAY.test(error.message);
};

/** Two transactions stood in each other's way, or a plan is out of date: the same again will work. */
export const isConflict = (error: unknown): boolean =>
  isDriverError(error) && (/^40/.test(error.code ?? '') || isStalePlan(error));

/** A prepared statement that the server forgot, or whose result another release has given another shape: prepare it again. */
export const isStalePlan = (error: unknown): boolean =>
  isDriverError(error) &&
  (error.code === '26000' || (error.code === '0A000' && /^cached plan must not change/.test(error.message)));

/** Somebody else holds a lock for longer than this statement may wait. */
export const isLockTimeout = (error: unknown): boolean => isDriverError(error) && error.code === '55P03';

export const isDuplicate = (error: unknown): boolean =>
  isDriverError(error) &&
  (error.code === '23505' || /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/.test(error.code ?? ''));

/** The error as a database fault, or null where it is something else. */
export const databaseFault = (error: unknown): DatabaseFault | null => {
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

const BY_CODE: [RegExp, string][] = [
  [/^SQLITE_FULL/, 'the disk is full (DATA_DIR)'],
  [/^SQLITE_READONLY/, 'its folder or file is read-only (DATA_DIR)'],
  [/^SQLITE_CANTOPEN/, 'its file cannot be opened (DATA_DIR)'],
  [/^SQLITE_IOERR/, 'reading or writing its file failed; is the disk full or broken? (DATA_DIR)'],
  [/^SQLITE_(NOTADB|CORRUPT)/, 'handback.sqlite is not a sound SQLite file (DATA_DIR)'],
  [/^SQLITE_BUSY/, 'another process holds it for too long'],
  [/^28/, 'the server refused the user name or password (DATABASE_URL)'],
  [/^3D000/, 'there is no such database on the server (DATABASE_URL)'],
  [/^42501/, 'the user lacks a right there: to connect, or to create, read or write tables (DATABASE_URL)'],
  [/^25006/, 'it is read-only: a standby, or set so (DATABASE_URL)'],
  [/^(ECONN|ETIMEDOUT|ENOTFOUND|EAI_|EHOST|ENET)/, 'the server cannot be reached (DATABASE_URL)'],
  [/^(53|57P|08)/, 'the server takes no connections right now (DATABASE_URL)'],
  [TLS_FAILED, "the server's certificate does not hold (DATABASE_URL)"],
];
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
  const [, words = null] =
    BY_MESSAGE.find(([pattern]) => pattern.test(message)) ??
    BY_CODE.find(([pattern]) => pattern.test(code)) ??
    [];
  return words;
};
