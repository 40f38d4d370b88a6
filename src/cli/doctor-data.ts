import { hostname } from 'node:os';
import { sql } from 'kysely';
import { z } from 'zod';
import { EXPIRES_SOON_DAYS } from '../../contract/admin.ts';
import { RETURN_TABLES } from '../../contract/kinds.ts';
import { EXPIRES_SOON_MS } from '../api-clients/actions.ts';
import { expiringKeys } from '../api-clients/store.ts';
import { sealedValues } from '../app/reseal.ts';
import {
  checkBackups,
  checkFile,
  isLate,
  LATE_AFTER_MS,
  type NewestBackup,
  readSchedule,
  unfinishedState,
} from '../backup/schedule.ts';
import { findFact } from '../db/installation-facts.ts';
import { TOTAL_COLUMNS } from '../db/schema.ts';
import type { Reading } from '../db/transfer.ts';
import type { Db } from '../db/types.ts';
import { lowestId } from '../lib/ids.ts';
import { jsonOr } from '../lib/json.ts';
import { DAY_MS, toIso } from '../lib/time.ts';
import { countUnfinished } from '../personal-data/erasures.ts';
import type { BackupSchedule, Config } from '../platform/config.ts';
import { findCheck, keysOf, type SealedFor } from '../platform/secrets.ts';
import { countedAs, originOf } from '../returns/totals.ts';
import { isAhead } from '../shops/allowance.ts';
import { DELETING } from '../shops/store.ts';
import { countPendingDeliveries, findWaitingOrFailingClients } from '../webhooks/queue.ts';

export interface Finding {
  state: 'ok' | 'warn' | 'wrong';
  message: string;
}

export const ok = (message: string): Finding => ({ state: 'ok', message });
export const warn = (message: string): Finding => ({ state: 'warn', message });
export const wrong = (message: string): Finding => ({ state: 'wrong', message });

class CheckTimeout extends Error {}

/** Recognises a timeout. With 57014 PostgreSQL cancelled the statement. */
export const isTimeout = (error: unknown): boolean =>
  error instanceof CheckTimeout || (error as { code?: unknown }).code === '57014';

/** The time limits of a statement, a wait for a lock and a whole check. They suffice for databases with millions of rows. */
export const DOCTOR_LIMITS = { statementMs: 5_000, lockMs: 2_000 };
const CHECK_MS = 15_000;

const startDeadline = (): (() => void) => {
  const end = performance.now() + CHECK_MS;
  return () => {
    if (performance.now() > end) throw new CheckTimeout('this check takes too long');
  };
};

// --- checks of what the database holds; they change nothing ---

const MAX_NAMED = 3;

export const listSome = (names: string[]): string =>
  names.length <= MAX_NAMED
    ? names.join(', ')
    : `${names.slice(0, MAX_NAMED).join(', ')} and ${names.length - MAX_NAMED} more`;

const checkSecretKey = async (reading: Reading, config: Config): Promise<Finding> => {
  if ((await findCheck(reading.db)) === null) return ok('nothing is encrypted yet');
  const throwIfLate = startDeadline();
  const failed: SealedFor[] = [];
  let total = 0;
  for await (const { sealedFor, plain } of sealedValues(reading.db, keysOf(config))) {
    throwIfLate();
    total += 1;
    if (plain === null) failed.push(sealedFor);
  }
  if (failed.length === 0) return ok(`opens all ${total} encrypted values`);
  if (failed.length === total)
    return wrong('SECRET_KEY is not the key that this database was set up with: restore that key');
  const rows = failed.map(({ table, id }) => `${table} ${id}`);
  return wrong(
    `SECRET_KEY does not open ${listSome(rows)}: restore the missing key, or replace what it encrypted (handback client replace ID, handback user reset-factor EMAIL)`,
  );
};

/** The time of the database, rounded because its columns have no fractions of a millisecond. */
export const databaseNow = async ({ server }: Reading): Promise<number> =>
  Math.round((await server()).nowMs ?? Date.now());

const checkKeys = async (reading: Reading): Promise<Finding> => {
  const nowMs = await databaseNow(reading);
  const clients = await expiringKeys(reading.db, nowMs + EXPIRES_SOON_MS);
  if (clients.length === 0) return ok(`none expires within ${EXPIRES_SOON_DAYS} days`);
  const words = clients.map(({ id, name, expires_at }) => {
    const at = Number(expires_at);
    return `that of ${name} (client ${id}) ${at <= nowMs ? 'expired' : 'expires'} at ${toIso(at)}`;
  });
  return warn(
    `${listSome(words)}: run handback client replace ID, or handback client update ID --expires DAY`,
  );
};

const checkBackup = async (reading: Reading, config: Config): Promise<Finding> => {
  if (!config.backups) return ok('none is scheduled: set BACKUP_DAILY_AT and BACKUP_DIR for a daily backup');
  await checkBackups(config);
  const [state, nowMs] = [await readSchedule(reading.db), await databaseNow(reading)];
  const restored = await findRestore(reading.db);
  if (!state?.newest && restored && nowMs - restored.at < LATE_AFTER_MS)
    return ok(`none yet since the restore at ${toIso(restored.at)}: a service takes one when it starts`);
  const newest = state?.newest ? `the newest is ${state.newest.file}` : 'there is no backup yet';
  const failed = state?.error ? `; the last attempt failed: ${state.error}` : '';
  const unfinished = state && unfinishedState(state, nowMs);
  const begun =
    state && unfinished
      ? `; another was started and wrote rows until at least ${toIso(state.claimedAt)}`
      : '';
  if (isLate(state, nowMs))
    return wrong(
      `${newest}${failed}${begun}: check that a process with ROLE all or worker is running with BACKUP_DAILY_AT. Until then, run handback backup FILE`,
    );
  const missing = state?.newest && (await missingFinding(config.backups, state.newest));
  if (missing) return missing;
  if (unfinished === 'stalled')
    return warn(`${newest}${begun}: its process died or hangs; the next attempt is two hours later`);
  if (unfinished === 'running') return ok(`${newest}; another is in progress, or its process died`);
  return failed ? warn(`${newest}${failed}; the next attempt is within two hours`) : ok(newest);
};

/** Reports a missing backup. If another machine took it, it may be in a folder of the same name there. */
const missingFinding = async ({ folder }: BackupSchedule, newest: NewestBackup): Promise<Finding | null> => {
  const found = await checkFile(folder, newest);
  if (found === 'there') return null;
  const what = found === 'gone' ? 'is missing' : `no longer has the ${newest.bytes} bytes that were written`;
  const words = `the newest was ${newest.file}, which ${what} (${folder})`;
  return newest.host && newest.host !== hostname() && found === 'gone'
    ? warn(`${words}: ${newest.host} took it: look there, or mount a folder that both machines share`)
    : wrong(
        `${words}: check that the right disk is mounted (BACKUP_DIR). Until then, run handback backup FILE`,
      );
};

const Restored = z.object({ at: z.number(), madeAt: z.iso.datetime() });

const findRestore = async (db: Db): Promise<z.infer<typeof Restored> | null> => {
  const { data = null } = Restored.safeParse(jsonOr((await findFact(db, 'restored')) ?? '', null));
  return data;
};

const WARN_AFTER_RESTORE_MS = 7 * DAY_MS;

const checkRestore = async (reading: Reading): Promise<Finding | null> => {
  const restored = await findRestore(reading.db);
  if (!restored || (await databaseNow(reading)) - restored.at > WARN_AFTER_RESTORE_MS) return null;
  return warn(
    `restored at ${toIso(restored.at)} from a backup of ${restored.madeAt}: keys revoked since then work again, and people removed since then are back; review the API clients and the team of each shop`,
  );
};

/** Reports erasures only if there is something to do. */
const checkErasures = async ({ db }: Reading): Promise<Finding | null> => {
  const restoredAt = await findFact(db, 'restored-without-erasures');
  if (restoredAt !== null)
    return warn(
      `restored at ${toIso(Number(restoredAt))} without a list of erasures: data erased since the backup is back; run handback customer erasures --apply FILE with the newest list, or with an empty file if there is none`,
    );
  const { unfinished } = await countUnfinished(db);
  return unfinished === 0
    ? null
    : warn(`${unfinished} unfinished: a running service finishes them within minutes`);
};

/** Four attempts take about a minute. An older delivery waits for a process, or behind others for the same receiver. */
const OLD_DELIVERY_MS = 90_000;

const DROPPED_WITHIN_MS = DAY_MS;

/** Describes failing receivers and recent drops, which an empty queue does not show. It returns null if there are none. */
const describeTrouble = async (db: Db, nowMs: number): Promise<string | null> => {
  const failing = (await findWaitingOrFailingClients(db)).filter(({ since }) => since !== null);
  const { dropped } = await db
    .selectFrom('webhook_deliveries')
    .select((eb) => eb.fn.countAll<number>().as('dropped'))
    // The primary key suffices as an index, since ids rise with time and a delivery is dropped within a day.
    .where('id', '>=', lowestId(nowMs - 2 * DROPPED_WITHIN_MS))
    .where('status', '=', 'DROPPED')
    .where('finished_at', '>=', nowMs - DROPPED_WITHIN_MS)
    .executeTakeFirstOrThrow();
  const words = [
    failing.length > 0 &&
      `failing receivers: ${listSome(failing.map(({ name, shop, error }) => `${name} of ${shop} (${error})`))}`,
    Number(dropped) > 0 && `${dropped} webhooks were dropped within a day`,
  ];
  return words.filter(Boolean).join('; ') || null;
};

const checkQueue = async (reading: Reading): Promise<Finding> => {
  const { count, oldestAt } = await countPendingDeliveries(reading.db);
  const nowMs = await databaseNow(reading);
  const failing = await describeTrouble(reading.db, nowMs);
  if (failing) return warn(`${failing}; ${count} webhooks waiting. handback status lists the receivers`);
  if (oldestAt === null) return ok('empty');
  const words = `${count === 1 ? '1 webhook waiting' : `${count} webhooks waiting`}, the oldest for ${Math.round(Math.max(0, nowMs - oldestAt) / 1000)} s`;
  return nowMs - oldestAt < OLD_DELIVERY_MS
    ? ok(words)
    : warn(
        `${words}: check that a process sends webhooks (ROLE all or worker) and that receivers respond; handback status lists them`,
      );
};

const COUNTED_BY = ['shop_id', 'receiver_id', 'status', 'created_at', 'erased_at'];

const checkTotals = async (reading: Reading): Promise<Finding> => {
  const { db } = reading;
  const throwIfLate = startDeadline();
  const stored = await db.selectFrom('rma_totals').select(TOTAL_COLUMNS).execute();
  /** For each stored total, the number of rows beyond it. */
  const missing = new Map(
    stored.map(({ shop_id, kind, origin, status, count }) => [
      `${shop_id} ${kind} ${origin} ${status}`,
      -count,
    ]),
  );
  const months = new Map<string, number>();
  const addOne = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  // Rows are counted one by one on both engines, since SQLite cannot be interrupted while it counts.
  for (const kind of RETURN_TABLES)
    for await (const [shop, receiver, status, createdAt, erasedAt] of reading.rows(kind, COUNTED_BY)) {
      throwIfLate();
      const erased_at = erasedAt === null ? null : Number(erasedAt);
      const origin = originOf({ receiver_id: receiver as string | null });
      addOne(missing, `${shop} ${kind} ${origin} ${countedAs(kind, { status: String(status), erased_at })}`);
      addOne(months, `${shop} ${toIso(Number(createdAt)).slice(0, 7)}`);
    }
  const deleting = await db.selectFrom('shops').select('id').where('subscription', '=', DELETING).execute();
  const mismatches = [...missing]
    .filter(([name, count]) => count !== 0 && !deleting.some(({ id }) => name.startsWith(id)))
    .map(([name]) => name);
  if (mismatches.length > 0)
    return wrong(
      `stored totals do not match the rows: ${listSome(mismatches)}; docs/operations/on-call.md explains how to repair them`,
    );
  const counters = await db.selectFrom('shop_counters').select(['shop_id', 'month', 'month_used']).execute();
  const tooLow = counters.filter(
    ({ shop_id, month, month_used }) => month_used < (months.get(`${shop_id} ${month}`) ?? 0),
  );
  if (tooLow.length > 0)
    return wrong(
      `month_used is below the month's creations: ${listSome(tooLow.map(({ shop_id }) => `shop ${shop_id}`))}; docs/operations/on-call.md explains how to repair them`,
    );
  return ok(`${missing.size} stored totals match the rows`);
};

/** The columns that a counter must not be below. An index lookup for each shop finds their highest value. */
const COUNTER_FLOORS = [
  ...RETURN_TABLES.map((table) => ({ counter: 'last_number', table, column: 'number' })),
  ...RETURN_TABLES.map((table) => ({ counter: 'last_at', table, column: 'updated_at' })),
  { counter: 'last_position', table: 'events', column: 'position' },
] as const;

const checkCounters = async ({ db }: Reading): Promise<Finding> => {
  const throwIfLate = startDeadline();
  const behind: string[] = [];
  for (const { counter, table, column } of COUNTER_FLOORS) {
    throwIfLate();
    const { rows } = await sql<{ shop_id: string }>`
      select shop_id from shop_counters as counter where exists (
        select 1 from ${sql.table(table)} as of_shop
        where of_shop.shop_id = counter.shop_id and of_shop.${sql.ref(column)} > counter.${sql.ref(counter)})`.execute(
      db,
    );
    behind.push(...rows.map(({ shop_id }) => `${counter} of shop ${shop_id}`));
  }
  if (behind.length > 0)
    return wrong(
      `counters are behind their rows: ${listSome(behind)}; docs/operations/on-call.md explains how to repair them`,
    );
  return ok('no row is ahead of its counter');
};

const PROXY_SEEN_WITHIN_MS = 7 * DAY_MS;

/** The service records requests through an untrusted proxy: all callers behind it share one address and one limit. */
const checkProxy = async (reading: Reading, config: Config): Promise<Finding | null> => {
  const seen = config.trustProxy === false ? await findFact(reading.db, 'untrusted-proxy') : null;
  const seenMs = Number(seen);
  return seen === null || (await databaseNow(reading)) - seenMs > PROXY_SEEN_WITHIN_MS
    ? null
    : warn(
        `requests came with X-Forwarded-For (${toIso(seenMs)}), but TRUST_PROXY is off: behind a proxy all callers share one address and its rate limit; set TRUST_PROXY, or have the proxy remove the header`,
      );
};

/** This machine's clock decides nothing important, but logs and the tokens of other services depend on it. */
const MAX_CLOCK_OFFSET_MS = 2_000;
const MAX_AHEAD_MS = 60_000;

const checkClock = async (reading: Reading): Promise<Finding> => {
  const askedAt = Date.now();
  const server = await reading.server();
  const ownMs = (askedAt + Date.now()) / 2;
  const offsetMs = server.nowMs === null ? 0 : Math.round(server.nowMs - ownMs);
  if (Math.abs(offsetMs) >= MAX_CLOCK_OFFSET_MS)
    return warn(
      `this machine's clock is ${formatSeconds(Math.abs(offsetMs))} ${offsetMs > 0 ? 'behind' : 'ahead of'} the database's: the service uses the database's clock, but correct this one (NTP)`,
    );
  const newest = await reading.db
    .selectFrom('shop_counters')
    .select((eb) => [eb.fn.max('last_at').as('at'), eb.fn.max('month').as('month')])
    .executeTakeFirst();
  if (isAhead(newest?.month ?? '', ownMs + offsetMs))
    return warn(
      `a shop counts in the month ${newest?.month}: the clock was wrong; its next creation counts in the current month, docs/operations/on-call.md explains how to correct the count`,
    );
  const ahead = Number(newest?.at ?? 0) - (ownMs + offsetMs);
  if (ahead > MAX_AHEAD_MS)
    return warn(
      `the newest change is dated ${formatSeconds(ahead)} ahead of now: the clock was or is wrong; changes keep that time until it has passed`,
    );
  return ok(server.nowMs === null ? 'system clock' : `${Math.abs(offsetMs)} ms from the database's clock`);
};

const formatSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** The checks in their order. Each has its own snapshot, since PostgreSQL ends a snapshot when it cancels a statement. */
export const DATA_CHECKS: [string, (reading: Reading, config: Config) => Promise<Finding | null>][] = [
  ['clock', checkClock],
  ['secret key', checkSecretKey],
  ['proxy', checkProxy],
  ['queue', checkQueue],
  ['keys', checkKeys],
  ['backup', checkBackup],
  ['restore', checkRestore],
  ['erasures', checkErasures],
  ['totals', checkTotals],
  ['counters', checkCounters],
];
