import { batched } from '../../lib/batch.ts';
import type { Clock } from '../../lib/time.ts';
import type { RateGate, RateState, RateWindow, RateWindows } from '../database.ts';
import { afterFailure } from '../database-errors.ts';
import { lengthMs, longestOf, refusal } from '../rate-windows.ts';
import type { CheckedPool } from './pools.ts';

/** Refused keys; beyond these a flood costs round trips again, never memory. */
const MOST_REMEMBERED = 10_000;

/** How a key stands after some calls. Times are the database's, in milliseconds. */
interface KeyCount {
  key: string;
  /** How many of these calls passed. */
  taken: number;
  now: number;
  /** How many calls are in the longest window, and when the first of them came. */
  count: number;
  oldest: number;
  /** For each window, when the call that took its first place leaves it; null: it has never been full. */
  free: (number | null)[];
}

/** A key that was refused is refused again from memory, so a flood costs no round trips. `stopped`: the clock of a test. */
export const postgresRateGate = (
  reads: Pick<CheckedPool, 'query'>,
  windows: RateWindows,
  clock: Clock,
  stopped: Clock | null,
): RateGate => {
  const text = statement(windows);
  const prefix = longestOf(windows).name;
  const refusedKeys = new Map<string, { window: RateWindow; untilMs: number }>();

  const count = batched<string, RateState>(
    async (keys) => {
      const calls = new Map<string, number>();
      for (const key of keys) calls.set(key, (calls.get(key) ?? 0) + 1);
      // In one order everywhere, so that processes never wait for each other in a circle.
      const sorted = [...calls].sort(([one], [other]) => (one < other ? -1 : 1));
      const { rows } = await reads.query<KeyCount>(text, [
        sorted.map(([key]) => `${prefix}:${key}`),
        sorted.map(([, asked]) => asked),
        stopped?.now() ?? null,
      ]);
      const counts = new Map(rows.map((row) => [row.key, { row, turn: 0 }]));
      return keys.map((key) => {
        const counted = counts.get(`${prefix}:${key}`);
        if (!counted) return new Error('a key was not counted');
        counted.turn += 1;
        return stateOf(windows, counted.row, counted.turn);
      });
    },
    { most: 200, atOnce: 2, afterFailure },
  );

  const countAndRemember = async (key: string): Promise<RateState> => {
    const state = await count(key);
    if (state.refused) {
      if (refusedKeys.size >= MOST_REMEMBERED) refusedKeys.clear();
      refusedKeys.set(key, { window: state.window, untilMs: clock.now() + state.msBeforeNext });
    }
    return state;
  };

  return (key) => {
    const known = refusedKeys.get(key);
    if (known) {
      const { window, untilMs } = known;
      const msBeforeNext = untilMs - clock.now();
      const isOver = msBeforeNext <= 0 || msBeforeNext > lengthMs(window);
      if (!isOver) return { window, remaining: 0, msBeforeNext, refused: true };
      refusedKeys.delete(key);
    }
    return countAndRemember(key);
  };
};

const stateOf = (windows: RateWindows, key: KeyCount, turn: number): RateState => {
  const { taken, now, count, oldest, free } = key;
  const freeInMs = free.map((atMs) => (atMs ?? 0) - now);
  if (turn > taken) return refusal(windows, freeInMs);
  const longest = longestOf(windows);
  return {
    window: longest,
    remaining: longest.points - (count - taken + turn),
    msBeforeNext: oldest + lengthMs(longest) - now,
    refused: false,
  };
};

// The clock is read when the row is locked, so times in a row never fall, whichever process writes them; a time that lies ahead is
// now: the clock was set back. Times are sorted, so `width_bucket` finds by halving how many are past a window.
const statement = (windows: RateWindows): string => {
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
