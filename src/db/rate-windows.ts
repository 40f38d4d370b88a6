import { sql } from 'kysely';
import { batched } from '../lib/batch.ts';
import type { Clock } from '../lib/time.ts';
import { afterFailure, takesNoWrites } from './database-errors.ts';
import type { CheckedPool } from './postgres/pools.ts';
import type { Database, RateGate, RateState, RateWindow, RateWindows } from './types.ts';

// Exact rate limits: the times of a key's last calls are stored, so that no window, wherever it begins, has more calls (docs/contract.md).

const lengthMs = ({ seconds }: RateWindow): number => seconds * 1000;

/** The window that determines how long times are stored. */
const longestOf = (windows: RateWindows): RateWindow => windows.at(-1) as RateWindow;

/** The state of a refused call, in the window that is full for longest: Retry-After must not name a time at which another one refuses. */
const deniedState = (windows: RateWindows, freeInMs: readonly number[]): RateState => {
  const msBeforeNext = Math.max(...freeInMs);
  const window = windows[freeInMs.indexOf(msBeforeNext)] ?? windows[0];
  return { window, remaining: 0, msBeforeNext, refused: true };
};

/** The state of a key after an allowed call: the calls in the longest window, and when the oldest leaves it. */
const allowedState = (windows: RateWindows, count: number, oldestMs: number, nowMs: number): RateState => {
  const window = longestOf(windows);
  const msBeforeNext = oldestMs + lengthMs(window) - nowMs;
  return { window, remaining: window.points - count, msBeforeNext, refused: false };
};

/** Decides on a call by the times of earlier ones, oldest first, and adds it to them unless it is refused. */
export const takeSlot = (windows: RateWindows, times: number[], nowMs: number): RateState => {
  const keptMs = lengthMs(longestOf(windows));
  const firstKept = times.findIndex((atMs) => atMs > nowMs - keptMs);
  times.splice(0, firstKept === -1 ? times.length : firstKept);
  // A window is full while the call that is `points` calls back is in it.
  const freeInMs = windows.map(
    (window) => (times.at(-window.points) ?? Number.NEGATIVE_INFINITY) + lengthMs(window) - nowMs,
  );
  if (freeInMs.some((ms) => ms > 0)) return deniedState(windows, freeInMs);
  times.push(nowMs);
  return allowedState(windows, times.length, times[0] ?? nowMs, nowMs);
};

/** At least this many of the newest keys are stored, and at most twice as many, so that a flood of addresses does not fill the memory. */
export const NEWEST_KEYS = 100_000;

// Counts in this process, with a monotonic clock. A call puts its key into the newer of two maps, which becomes the older one
// after a window's length, or when it is full: by then all times in the older one have left their windows. No map is ever searched.
export const memoryRateGate = (windows: RateWindows): RateGate => {
  let newer = new Map<string, number[]>();
  let older = new Map<string, number[]>();
  let turnAtMs = 0;
  return (key) => {
    const nowMs = performance.now();
    if (nowMs >= turnAtMs || newer.size >= NEWEST_KEYS) {
      older = newer;
      newer = new Map();
      turnAtMs = nowMs + lengthMs(longestOf(windows));
    }
    let times = newer.get(key);
    if (!times) {
      times = older.get(key) ?? [];
      newer.set(key, times);
    }
    return takeSlot(windows, times, nowMs);
  };
};

/** The maximum of remembered refusals. Above, a flood costs round trips again, but no memory. */
const MOST_REMEMBERED = 10_000;

/** The state of a key after some calls. Times are the database's, in milliseconds. */
interface KeyCount {
  key: string;
  taken: number;
  now: number;
  /** The number of calls in the longest window, and the time of the first. */
  count: number;
  oldest: number;
  /** For each window, when the call that is `points` calls back leaves it; null if it has never been full. */
  free: (number | null)[];
}

/**
 * A refused key is refused again from memory, so that a flood costs no round trips. While the database accepts no writes, this process
 * counts by itself, so that reads continue. `stopped` is the clock of a test.
 */
export const postgresRateGate = (
  reads: Pick<CheckedPool, 'query'>,
  windows: RateWindows,
  clock: Clock,
  stopped: Clock | null,
): RateGate => {
  const text = upsertSql(windows);
  const rowKey = (key: string) => `${longestOf(windows).name}:${key}`;
  const refusedKeys = new Map<string, { window: RateWindow; untilMs: number }>();

  const count = batched<string, RateState>(
    async (keys) => {
      // The order is the same everywhere, so that processes cannot deadlock.
      const calls = [...Map.groupBy(keys, rowKey)].sort(([one], [other]) => (one < other ? -1 : 1));
      const { rows } = await reads.query<KeyCount>(text, [
        calls.map(([key]) => key),
        calls.map(([, same]) => same.length),
        stopped?.now() ?? null,
      ]);
      const counts = new Map(rows.map((row) => [row.key, { row, turn: 0 }]));
      return keys.map((key) => {
        const counted = counts.get(rowKey(key));
        if (!counted) return new Error('a key was not counted');
        counted.turn += 1;
        return stateOf(windows, counted.row, counted.turn);
      });
    },
    { most: 200, atOnce: 2, afterFailure },
  );

  const countHere = memoryRateGate(windows);
  const countAndRemember = async (key: string): Promise<RateState> => {
    const state = await count(key).catch((error) => {
      if (takesNoWrites(error)) return countHere(key);
      throw error;
    });
    if (state.refused) {
      if (refusedKeys.size >= MOST_REMEMBERED) refusedKeys.clear();
      refusedKeys.set(key, { window: state.window, untilMs: clock.now() + state.msBeforeNext });
    } else refusedKeys.delete(key);
    return state;
  };

  return (key) => {
    const { window = windows[0], untilMs = 0 } = refusedKeys.get(key) ?? {};
    const msBeforeNext = untilMs - clock.now();
    return msBeforeNext > 0 && msBeforeNext <= lengthMs(window)
      ? { window, remaining: 0, msBeforeNext, refused: true }
      : countAndRemember(key);
  };
};

const stateOf = (windows: RateWindows, key: KeyCount, turn: number): RateState => {
  const { taken, now, count, oldest, free } = key;
  const freeInMs = free.map((atMs) => (atMs ?? 0) - now);
  return turn <= taken
    ? allowedState(windows, count - taken + turn, oldest, now)
    : deniedState(windows, freeInMs);
};

// The clock is read when the row is locked, so times in a row never decrease, whichever process writes them. A time in the future counts as
// now, since the clock was set back. Times are sorted, so `width_bucket` finds by bisection how many have left a window.
const upsertSql = (windows: RateWindows): string => {
  const now = 'coalesce($3::float8, extract(epoch from clock_timestamp())::float8 * 1000) as now';
  const keptMs = lengthMs(longestOf(windows));
  const past = (ms: number) => `width_bucket(now - ${ms}, known)`;
  const room = windows.map((window) => `${window.points} - cardinality(known) + ${past(lengthMs(window))}`);
  const free = windows.map(
    (window) => `times[cardinality(times) - ${window.points - 1}] + ${lengthMs(window)}`,
  );
  return `insert into rate_limits as kept (key, times, taken, expire)
    select key, array_fill(now, array[fresh]), fresh, now + ${keptMs} from (
      select key, least(calls, ${Math.min(...windows.map(({ points }) => points))}) as fresh, ${now}
      from unnest($1::text[], $2::integer[]) as called(key, calls)) as called
    on conflict (key) do update set (times, taken, expire) = (
      select known[${past(keptMs)} + 1:] || array_fill(now, array[places]), places, now + ${keptMs}
      from (select ${now}) as clock,
        lateral (select case when kept.times[cardinality(kept.times)] <= now then kept.times
          else array(select least(at, now) from unnest(kept.times) as at) end as known) as sorted,
        lateral (select greatest(0, least(excluded.taken, ${room.join(', ')})) as places) as judged)
    returning key, taken, expire - ${keptMs} as now, cardinality(times) as count, times[1] as oldest,
      array[${free.join(', ')}] as free`;
};

/** The rows are small. Engines that count in memory have none. */
const DELETED_AT_ONCE = 5_000;
/** It is longer than the difference between the clocks of two processes. */
const SLACK_MS = 10_000;

/** Deletes keys with empty windows, except rows that a call has locked. */
export const forgetEndedWindows = async (
  { background: db, among }: Pick<Database, 'background' | 'among'>,
  nowMs: number,
): Promise<boolean> => {
  const ended = db
    .selectFrom('rate_limits')
    .select('key')
    .where('expire', '<', nowMs - SLACK_MS)
    .limit(DELETED_AT_ONCE)
    .forUpdate()
    .skipLocked();
  const { numDeletedRows } = await db
    .deleteFrom('rate_limits')
    .where(sql<boolean>`key ${among(ended)}`)
    .executeTakeFirstOrThrow();
  return numDeletedRows === BigInt(DELETED_AT_ONCE);
};
