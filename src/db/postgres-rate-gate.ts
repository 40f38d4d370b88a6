import type { RateGate, RateState, RateWindow } from './database.ts';
import { gather } from './gather.ts';
import type { SharedConnection } from './postgres-shared.ts';

/** Keys turned away that are remembered; beyond these a flood costs round trips again, never memory. */
const MOST_REMEMBERED = 10_000;

interface Count {
  key: string;
  asked: number;
  /** Of each window: calls it was asked to count, its count after them, and when it ends. */
  [column: `asked${number}` | `points${number}` | `expire${number}`]: number;
}

/**
 * Counts in the table that all processes share, many keys in one statement. Each window counts what the one before it let
 * through. A key that was turned away is turned away from memory until its window ends, so a flood costs no round trips.
 */
export const postgresRateGate = (shared: SharedConnection, windows: readonly RateWindow[]): RateGate => {
  const text = statement(windows);
  const turnedAway = new Map<string, { window: RateWindow; untilMs: number }>();

  const count = gather<string, RateState>(
    async (keys) => {
      const calls = new Map<string, number>();
      for (const key of keys) calls.set(key, (calls.get(key) ?? 0) + 1);
      const nowMs = Date.now();
      const client = await shared.connect();
      const { rows } = await client.query<Count>(text, [
        [...calls.keys()],
        [...calls.values()],
        nowMs,
        ...windows.map(({ seconds }) => nowMs + seconds * 1000),
      ]);
      const counts = new Map(rows.map((row) => [row.key, { row, turn: 0 }]));
      return keys.map((key) => {
        const counted = counts.get(key);
        if (!counted) return new Error('a key was not counted');
        counted.turn += 1;
        return stateOf(windows, counted.row, counted.turn, nowMs);
      });
    },
    { most: 200, sideBySide: 2 },
  );

  const countAndRemember = async (key: string): Promise<RateState> => {
    const state = await count(key);
    if (state.refused) {
      if (turnedAway.size >= MOST_REMEMBERED) turnedAway.clear();
      turnedAway.set(key, { window: state.window, untilMs: Date.now() + state.msBeforeNext });
    }
    return state;
  };

  return (key) => {
    const known = turnedAway.get(key);
    if (known) {
      const msBeforeNext = known.untilMs - Date.now();
      if (msBeforeNext > 0) return { window: known.window, remaining: 0, msBeforeNext, refused: true };
      turnedAway.delete(key);
    }
    return countAndRemember(key);
  };
};

/** How the `turn`-th call of a key in this batch stands. */
const stateOf = (windows: readonly RateWindow[], row: Count, turn: number, nowMs: number): RateState => {
  let state: RateState | null = null;
  for (const [i, window] of windows.entries()) {
    const points = (row[`points${i}`] ?? 0) - (row[`asked${i}`] ?? 0) + turn;
    const msBeforeNext = Math.max(0, (row[`expire${i}`] ?? 0) - nowMs);
    const remaining = Math.max(0, window.points - points);
    state = { window, remaining, msBeforeNext, refused: points > window.points };
    if (state.refused) break;
  }
  return state as RateState;
};

/** One step a window. Rows are taken in the order of their keys, so that processes never wait for each other in a circle. */
const statement = (windows: readonly RateWindow[]): string => {
  const steps = windows.map(({ name, points }, i) => {
    const before = windows[i - 1];
    const asked = before
      ? `select key, least(asked, greatest(0, ${before.points} - (points - asked))) as asked from window${i - 1}`
      : 'select key, asked from unnest($1::text[], $2::bigint[]) as called(key, asked)';
    return `asked${i} as (${asked}),
      counted${i} as (
        insert into rate_limits as kept (key, points, expire)
        select '${name}:' || key, asked, $${4 + i}::bigint from asked${i} where asked > 0 order by key
        on conflict (key) do update set
          points = case when kept.expire <= $3 then excluded.points
            else least(kept.points, ${points}) + excluded.points end,
          expire = case when kept.expire <= $3 then excluded.expire else kept.expire end
        returning key, points, expire
      ),
      window${i} as (
        select asked${i}.key, asked${i}.asked, counted${i}.points, counted${i}.expire
        from asked${i} join counted${i} on counted${i}.key = '${name}:' || asked${i}.key
      )`;
  });
  const columns = windows.map(
    (_, i) =>
      `window${i}.asked as asked${i}, window${i}.points as points${i}, window${i}.expire as expire${i}`,
  );
  const joined = windows.map((_, i) => (i === 0 ? 'window0' : `left join window${i} using (key)`));
  return `with ${steps.join()} select window0.key, ${columns.join()} from ${joined.join(' ')}`;
};
