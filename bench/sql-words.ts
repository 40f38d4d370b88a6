import type { Engine } from './engines.ts';

/** Where the engines spell the same thing differently, for statements that fill whole tables by themselves. */
export interface SqlWords {
  idType: string;
  /** Rows `n` from 1 to `count`, to stand in a `from`. */
  series(count: number): string;
  /** An id made of a time and a number, both SQL expressions, as `seededId` makes it. */
  id(ms: string, n: string, kind: SeededKind): string;
  /** At least six digits. */
  sixDigits(n: string): string;
}

/** What ids of seeded rows differ by, beside their numbers. */
const KINDS = { rma: '7000', entry: '7001', delivery: '7002', shop: '7003' } as const;
export type SeededKind = keyof typeof KINDS;

const dashed = (ms: string, n: string, kind: SeededKind): string =>
  `substr(${ms}, 1, 8) || '-' || substr(${ms}, 9) || '-${KINDS[kind]}-8000-' || ${n}`;

const WORDS: Record<Engine, SqlWords> = {
  postgres: {
    idType: 'uuid',
    series: (count) => `generate_series(1::bigint, ${count}) as series(n)`,
    id: (ms, n, kind) => `cast(${dashed(pgHex(ms), pgHex(n), kind)} as uuid)`,
    sixDigits: (n) =>
      `case when ${n} < 1000000 then lpad(cast(${n} as text), 6, '0') else cast(${n} as text) end`,
  },
  sqlite: {
    idType: 'text',
    series: (count) =>
      `(with recursive series(n) as (select 1 union all select n + 1 from series where n < ${count}) select n from series)`,
    id: (ms, n, kind) => dashed(sqliteHex(ms), sqliteHex(n), kind),
    sixDigits: (n) => `printf('%06d', ${n})`,
  },
};
const pgHex = (value: string): string => `lpad(to_hex(${value}), 12, '0')`;
const sqliteHex = (value: string): string => `printf('%012x', ${value})`;

export const sqlWords = (engine: Engine): SqlWords => WORDS[engine];

const hex = (value: number): string => value.toString(16).padStart(12, '0');
export const seededId = (ms: number, n: number, kind: SeededKind): string =>
  `${hex(ms).slice(0, 8)}-${hex(ms).slice(8)}-${KINDS[kind]}-8000-${hex(n)}`;

/** Whether an id is one that a statement of ours made, and of that kind. */
export const isSeeded = (id: string, kind: SeededKind): boolean => id.slice(14, 18) === KINDS[kind];
