import { sql } from 'kysely';
import { EXPIRES_SOON_DAYS } from '../../contract/admin.ts';
import { EXPIRES_SOON_MS } from '../api-clients/actions.ts';
import { findFact } from '../db/installation-facts.ts';
import { TOTAL_COLUMNS } from '../db/schema.ts';
import type { Reading, Value } from '../db/transfer.ts';
import { toIso } from '../lib/time.ts';
import { countUnfinished } from '../personal-data/erasures.ts';
import { countedAs, originOf } from '../returns/totals.ts';
import type { Config } from '../service/config.ts';
import { tryAllSealed } from '../service/reseal.ts';
import { findCheck, keysOf } from '../service/secrets.ts';
import { findWaiting } from '../webhooks/queue.ts';

export interface Finding {
  state: 'ok' | 'warn' | 'wrong';
  message: string;
}

export const ok = (message: string): Finding => ({ state: 'ok', message });
export const warn = (message: string): Finding => ({ state: 'warn', message });
export const wrong = (message: string): Finding => ({ state: 'wrong', message });

class TooLate extends Error {}

/** 57014: PostgreSQL cancelled the statement. */
export const isTooLate = (error: unknown): boolean =>
  error instanceof TooLate || (error as { code?: unknown }).code === '57014';

/** How long one statement and one check may take, also in a database with millions of rows. */
export const STATEMENT_MS = 5_000;
const CHECK_MS = 15_000;

const deadline = (): (() => void) => {
  const end = performance.now() + CHECK_MS;
  return () => {
    if (performance.now() > end) throw new TooLate('this check takes too long');
  };
};

// --- checks of what the database holds; they change nothing ---

const KINDS = ['offline_repairs', 'trade_returns'] as const;
const NAMED = 3;

const some = (names: string[]): string =>
  names.length <= NAMED
    ? names.join(', ')
    : `${names.slice(0, NAMED).join(', ')} and ${names.length - NAMED} more`;

export const checkSecretKey = async (reading: Reading, config: Config): Promise<Finding> => {
  if ((await findCheck(reading.db)) === null) return ok('nothing is sealed yet');
  const { total, failed } = await tryAllSealed(reading.db, keysOf(config), deadline());
  if (failed.length === 0) return ok(`opens all ${total} sealed values`);
  if (failed.length === total)
    return wrong('SECRET_KEY does not hold the key that this database was set up with: bring that one back');
  const rows = failed.map(({ table, id }) => `${table} ${id}`);
  return wrong(
    `SECRET_KEY does not open ${some(rows)}: bring the missing key back, or replace what it sealed`,
  );
};

/** Keys that ended or will soon: the programs that use them fail. */
export const checkKeys = async ({ db, server }: Reading): Promise<Finding> => {
  // PostgreSQL's clock has fractions of a millisecond, its column has none.
  const nowMs = Math.round((await server()).nowMs ?? Date.now());
  const clients = await db
    .selectFrom('api_clients')
    .select(['id', 'name', 'expires_at'])
    .where('revoked_at', 'is', null)
    .where('replaced_by', 'is', null)
    .where('expires_at', '<=', nowMs + EXPIRES_SOON_MS)
    .orderBy('expires_at')
    .execute();
  if (clients.length === 0) return ok(`none expires in the next ${EXPIRES_SOON_DAYS} days`);
  const words = clients.map(({ id, name, expires_at }) => {
    const at = Number(expires_at);
    return `that of ${name} (client ${id}) ${at <= nowMs ? 'expired' : 'expires'} at ${toIso(at)}`;
  });
  return warn(`${some(words)}: replace the client, or give it a later date (client update --expires)`);
};

/** Only where something is to be done. */
export const checkErasures = async ({ db }: Reading): Promise<Finding | null> => {
  const restoredAt = await findFact(db, 'restored-without-erasures');
  if (restoredAt !== null)
    return warn(
      `restored at ${toIso(Number(restoredAt))} without a list of erasures: what was erased since the backup is back; run customer erasures --apply FILE with the newest list, or with an empty file if there is none`,
    );
  const { unfinished } = await countUnfinished(db);
  return unfinished === 0
    ? null
    : warn(`${unfinished} are not finished: a running service finishes them within minutes`);
};

/** Four attempts take about a minute: what is older waits for a process, or behind others for the same receiver. */
const OLD_MS = 90_000;

export const checkQueue = async ({ db, server }: Reading): Promise<Finding> => {
  const { count, oldestAt } = await findWaiting(db);
  if (oldestAt === null) return ok('no webhook waits');
  const nowMs = (await server()).nowMs ?? Date.now();
  const words = `${count === 1 ? '1 webhook waits' : `${count} webhooks wait`}, the oldest for ${Math.round(Math.max(0, nowMs - oldestAt) / 1000)} s`;
  return nowMs - oldestAt < OLD_MS
    ? ok(words)
    : warn(
        `${words}: does a process send (ROLE all or worker), and do receivers answer? The Deliveries page says`,
      );
};

interface ReturnCounts {
  totals: Map<string, number>;
  months: Map<string, number>;
}

const addOne = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1);
};

/** Row by row on either engine, since SQLite cannot be interrupted while it counts. */
const count = async (reading: Reading): Promise<ReturnCounts> => {
  const inTime = deadline();
  const counted: ReturnCounts = { totals: new Map(), months: new Map() };
  for (const kind of KINDS) {
    let seen = 0;
    for await (const row of reading.rows(kind, [
      'shop_id',
      'client_id',
      'status',
      'created_at',
      'erased_at',
    ])) {
      seen += 1;
      if (seen % 1000 === 0) inTime();
      const [shop, client, status, createdAt, erasedAt] = row as [
        string,
        string | null,
        string,
        Value,
        Value,
      ];
      const counted_as = countedAs(kind, { status, erased_at: erasedAt === null ? null : Number(erasedAt) });
      addOne(counted.totals, `${shop} ${kind} ${originOf({ client_id: client })} ${counted_as}`);
      addOne(counted.months, `${shop} ${monthOf(Number(createdAt))}`);
    }
  }
  return counted;
};

const monthOf = (ms: number): string =>
  Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString().slice(0, 7) : '';

export const checkTotals = async (reading: Reading): Promise<Finding> => {
  const { totals, months } = await count(reading);
  const kept = await reading.db.selectFrom('rma_totals').select(TOTAL_COLUMNS).execute();
  const keptCounts = new Map(
    kept.map(({ shop_id, kind, origin, status, count }) => [`${shop_id} ${kind} ${origin} ${status}`, count]),
  );
  const names = new Set([...keptCounts.keys(), ...totals.keys()]);
  const off = [...names].filter((name) => (keptCounts.get(name) ?? 0) !== (totals.get(name) ?? 0));
  if (off.length > 0)
    return wrong(
      `kept totals are not what counting finds: ${some(off)}; docs/operations.md says how to mend them`,
    );
  const counters = await reading.db
    .selectFrom('shop_counters')
    .select(['shop_id', 'month', 'month_used'])
    .execute();
  const short = counters.filter(
    ({ shop_id, month, month_used }) => month_used < (months.get(`${shop_id} ${month}`) ?? 0),
  );
  if (short.length > 0)
    return wrong(
      `month_used is below the month's creations: ${some(short.map(({ shop_id }) => `shop ${shop_id}`))}`,
    );
  return ok(`${names.size} kept totals are what counting finds`);
};

/** What each counter must not be below: a look into an index for each shop, however many rows there are. */
const HIGHEST = [
  ...KINDS.map((table) => ({ counter: 'last_number', table, column: 'number' })),
  ...KINDS.map((table) => ({ counter: 'last_at', table, column: 'updated_at' })),
  { counter: 'last_position', table: 'events', column: 'position' },
] as const;

export const checkCounters = async ({ db }: Reading): Promise<Finding> => {
  const inTime = deadline();
  const below: string[] = [];
  for (const { counter, table, column } of HIGHEST) {
    inTime();
    const { rows } = await sql<{ shop_id: string }>`
      select shop_id from shop_counters as counter where exists (
        select 1 from ${sql.table(table)} as of_shop
        where of_shop.shop_id = counter.shop_id and of_shop.${sql.ref(column)} > counter.${sql.ref(counter)})`.execute(
      db,
    );
    below.push(...rows.map(({ shop_id }) => `${counter} of shop ${shop_id}`));
  }
  if (below.length > 0)
    return wrong(`below the rows they count: ${some(below)}; docs/operations.md says how to mend them`);
  return ok('numbers, positions and times that were handed out are not below any row');
};
