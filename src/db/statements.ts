import { type CompiledQuery, sql } from 'kysely';
import { cached } from '../lib/cached.ts';
import { PLANNED_ANEW } from './postgres/pools.ts';
import type { Built, Change, ColumnKind, Dialect, Engine, Fill, Statement } from './types.ts';

// Frequent statements are compiled once and get their values when they run: compiling one costs more than running many
// of them. A builder only gets parameters, never a value, so no value can be compiled into a statement by mistake.

/** Returns a case-insensitive pattern for a text: a class of both cases for each letter, and `escaped` for other characters. */
const anyCase = (text: string, escaped: (character: string) => string): string =>
  text.replaceAll(/./gsu, (character) => {
    // Some letters become two in the other case.
    const isOne = (other: string) => [...other].length === 1;
    const cases = new Set([character, character.toLowerCase(), character.toUpperCase()].filter(isOne));
    return cases.size > 1 ? `[${[...cases].join('')}]` : escaped(character);
  });

/** A placeholder for a value in a statement. In a combined statement, `part` is the number of its part. */
class Param {
  readonly part: number;
  readonly name: string;
  readonly encode: (value: unknown) => unknown;
  constructor(part: number, name: string, encode: (value: unknown) => unknown) {
    this.part = part;
    this.name = name;
    this.encode = encode;
  }
  [Symbol.toPrimitive](): never {
    throw new Error(`the parameter ${this.name} has no value while its statement is built`);
  }
}

const encoded = <Value>(value: Value, encode: (value: Value) => unknown): unknown =>
  value instanceof Param
    ? new Param(value.part, value.name, encode as (value: unknown) => unknown)
    : encode(value);

export const asJson = (values: unknown): unknown => encoded(values, JSON.stringify);

let statements = 0;

/** Defines a statement. `Values` are the names and types of its parameters. */
export const statement = <Values extends object, Result>(
  build: (engine: Engine, params: Values) => Built<Result>,
): Statement<Values, Result> => {
  statements += 1;
  return { id: statements, build };
};

/**
 * Defines a statement for each shape that occurs. A shape is plain data with few possible values. However,
 * callers decide how many words a search has, so the number of stored statements is limited.
 */
export const statementsBy = <Shape, Values, Result>(
  define: (shape: Shape) => Statement<Values, Result>,
): ((shape: Shape) => Statement<Values, Result>) => {
  const defined = new Map<string, Statement<Values, Result>>();
  return (shape) => cached(defined, JSON.stringify(shape), () => define(shape));
};

export const change = <Values extends object>(what: Statement<Values, unknown>, values: Values): Change => ({
  statement: what,
  values,
});

const paramsOf = <Values>(part: number): Values =>
  new Proxy({}, { get: (_, name) => new Param(part, String(name), (value) => value) }) as Values;

/** Compiles each statement once for an engine. */
export class CompiledStatements {
  readonly #engine: Engine;
  readonly #compiled = new Map<string, CompiledQuery>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  readonly fill: Fill = <Values, Result>(what: Statement<Values, Result>, values: Values) =>
    this.#filled([{ statement: what, values: values as object }], () =>
      what.build(this.#engine, paramsOf(0)),
    ) as CompiledQuery<Result>;

  /** Combines several writes in one statement. They must not depend on each other's effects. */
  readonly together = (changes: Change[]): CompiledQuery =>
    this.#filled(changes, () => {
      const bodies = changes.map(({ statement: { build } }, i) => {
        return sql`${sql.id(`change${i}`)} as (${build(this.#engine, paramsOf<never>(i))})`;
      });
      return sql`with ${sql.join(bodies)} select`;
    });

  #filled(parts: Change[], build: () => Built<unknown>): CompiledQuery {
    const query = cached(this.#compiled, parts.map((each) => each.statement.id).join('+'), () =>
      build().compile(this.#engine.db),
    );
    const parameters = query.parameters.map((each) =>
      each instanceof Param ? each.encode(Reflect.get(parts[each.part]?.values ?? {}, each.name)) : each,
    );
    return { ...query, parameters };
  }
}

const TYPES: Record<ColumnKind, string> = { id: 'uuid', text: 'text', integer: 'bigint' };

const likePattern = (part: string): string => `%${part.replaceAll(/[\\%_]/g, '\\$&')}%`;
const anyCaseRegex = (part: string): string =>
  anyCase(part, (character) => character.replaceAll(/[^\p{L}\p{N}\s]/gu, '\\$&'));

export const postgresDialect: Dialect = {
  rows(alias, columns, values) {
    const parts = Object.entries(columns).map(([name, kind]) => sql`${sql.id(name)} ${sql.raw(TYPES[kind])}`);
    return sql`json_to_recordset(${asJson(values)}::json) as ${sql.id(alias)}(${sql.join(parts)})`;
  },
  oneOf: (kind, values) => sql`= any(${values}::${sql.raw(TYPES[kind])}[])`,
  among: (query) => sql`= any(array(${query}))`,
  forEachRow: (alias, query) => sql`unnest(array(${query})) as ${sql.id(alias)}(value)`,
  contains: (column, part) =>
    sql`${sql.ref(column)} like ${encoded(part, likePattern)} escape '\\' ${sql.raw(PLANNED_ANEW)}`,
  containsAnyCase: (column, part) => sql`${sql.ref(column)} ~ ${encoded(part, anyCaseRegex)}`,
};

const globEscaped = (text: string): string => text.replaceAll(/[*?[]/g, '[$&]');

export const sqliteDialect: Dialect = {
  rows: (alias, columns, values) => {
    const parts = Object.keys(columns).map(
      (name) => sql`json_extract(value, ${sql.lit(`$.${name}`)}) as ${sql.id(name)}`,
    );
    return sql`(select ${sql.join(parts)} from json_each(${asJson(values)})) as ${sql.id(alias)}`;
  },
  oneOf: (_kind, values) => sql`in (select value from json_each(${asJson(values)}))`,
  among: (query) => sql`in (${query})`,
  forEachRow: (alias, query) =>
    sql`json_each((select json_group_array(id) from (${query}))) as ${sql.id(alias)}`,
  // This takes half as long as LIKE.
  contains: (column, part) =>
    sql`${sql.ref(column)} glob ${encoded(part, (text) => `*${globEscaped(text)}*`)}`,
  containsAnyCase: (column, part) =>
    sql`${sql.ref(column)} glob ${encoded(part, (text) => `*${anyCase(text, globEscaped)}*`)}`,
};
