import type { Clock } from '../../clock.ts';
import { batched } from '../batch.ts';
import type { RateGate, RateState, RateWindow, RateWindows } from '../database.ts';
import type { CheckedPool } from './checked-pool.ts';

/** Keys turned away that are remembered; beyond these a flood costs round trips again, never memory. */
const MOST_REMEMBERED = 10_000;

/** By so much may two processes be apart in what they take for the database's time. */
const SLACK_MS = 500;

/** How a key stands after some calls. */
interface Count {
  key: string;
  points: number;
  expire: number;
  burst_points: number;
  burst_expire: number;
}

/**
 * Counts in the table that all processes share, many keys in one statement and one row a key: a short window, where there is
 * one, turns away first, and the long one counts what it let through. A key that was turned away is turned away from memory
 * until its window ends, so a flood costs no round trips. Times are the database's, which all processes share.
 */
export const postgresRateGate = (
  reads: Pick<CheckedPool, 'query'>,
  windows: RateWindows,
  clock: Clock,
): RateGate => {
  const [long, burst] = windows.toReversed() as [RateWindow, RateWindow?];
  const text = statement(long, burst);
  const turnedAway = new Map<string, { window: RateWindow; untilMs: number }>();

  const count = batched<string, RateState>(
    async (keys) => {
      const calls = new Map<string, number>();
      for (const key of keys) calls.set(key, (calls.get(key) ?? 0) + 1);
      const nowMs = clock.now();
      const { rows } = await reads.query<Count>(text, [
        // In one order everywhere, so that processes never wait for each other in a circle.
        [...calls.keys()].sort(),
        [...calls].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, asked]) => asked),
        nowMs,
        nowMs + long.seconds * 1000,
        ...(burst ? [nowMs + burst.seconds * 1000] : []),
      ]);
      const counts = new Map(rows.map((row) => [row.key, { row, turn: 0 }]));
      return keys.map((key) => {
        const counted = counts.get(`${long.name}:${key}`);
        if (!counted) return new Error('a key was not counted');
        counted.turn += 1;
        return stateOf(long, burst, counted.row, calls.get(key) ?? 0, counted.turn, nowMs);
      });
    },
    { most: 200, atOnce: 2 },
  );

  const countAndRemember = async (key: string): Promise<RateState> => {
    const state = await count(key);
    if (state.refused) {
      if (turnedAway.size >= MOST_REMEMBERED) turnedAway.clear();
      turnedAway.set(key, { window: state.window, untilMs: clock.now() + state.msBeforeNext });
    }
    return state;
  };

  return (key) => {
    const known = turnedAway.get(key);
    if (known) {
      const { window, untilMs } = known;
      const msBeforeNext = untilMs - clock.now();
      const isOver = msBeforeNext <= 0 || msBeforeNext > window.seconds * 1000;
      if (!isOver) return { window, remaining: 0, msBeforeNext, refused: true };
      turnedAway.delete(key);
    }
    return countAndRemember(key);
  };
};

/** How the `turn`-th of the calls that a key made in this batch stands. */
const stateOf = (
  long: RateWindow,
  burst: RateWindow | undefined,
  { points, expire, burst_points, burst_expire }: Count,
  calls: number,
  turn: number,
  nowMs: number,
): RateState => {
  const state = (window: RateWindow, place: number, untilMs: number): RateState => ({
    window,
    remaining: Math.max(0, window.points - place),
    msBeforeNext: Math.max(0, untilMs - nowMs),
    refused: place > window.points,
  });
  if (!burst) return state(long, points - calls + turn, expire);
  const before = burst_points - calls;
  if (before + turn > burst.points) return state(burst, before + turn, burst_expire);
  const letThrough = Math.min(calls, burst.points - before);
  return state(long, points - letThrough + turn, expire);
};

const statement = (long: RateWindow, burst: RateWindow | undefined): string => {
  /** A window that has ended begins anew, and so does one that ends later than it can: a clock was set back. */
  const isRunning = (column: string) =>
    `kept.${column}expire > $3 and kept.${column}expire <= excluded.${column}expire + ${SLACK_MS}`;
  /** What a window had counted before these calls. */
  const before = (column: string, { points }: RateWindow) =>
    `case when ${isRunning(column)} then least(kept.${column}points, ${points}) else 0 end`;
  const end = (column: string) =>
    `${column}expire = case when ${isRunning(column)} then kept.${column}expire else excluded.${column}expire end`;
  const called = 'unnest($1::text[], $2::bigint[]) as called(key, calls)';
  if (!burst)
    return `insert into rate_limits as kept (key, points, expire)
      select '${long.name}:' || key, calls, $4 from ${called}
      on conflict (key) do update set points = ${before('', long)} + excluded.points, ${end('')}
      returning key, points, expire`;
  const room = `greatest(0, ${burst.points} - ${before('burst_', burst)})`;
  return `insert into rate_limits as kept (key, points, expire, burst_points, burst_expire)
    select '${long.name}:' || key, least(calls, ${burst.points}), $4, calls, $5 from ${called}
    on conflict (key) do update set
      points = ${before('', long)} + least(excluded.burst_points, ${room}), ${end('')},
      burst_points = ${before('burst_', burst)} + excluded.burst_points, ${end('burst_')}
    returning key, points, expire, burst_points, burst_expire`;
};
