import type { Compilable, CompiledQuery } from 'kysely';

class Blank {
  readonly name: string;
  readonly encode: (value: unknown) => unknown;
  constructor(name: string, encode: (value: unknown) => unknown) {
    this.name = name;
    this.encode = encode;
  }
}

/** Stands in a statement for a value that it gets when it is run. */
export const blank = <Value>(name: string): Value => new Blank(name, (value) => value) as Value;

/** A list as one parameter, or the blank for it. */
export const asJson = (values: unknown): unknown =>
  values instanceof Blank ? new Blank(values.name, JSON.stringify) : JSON.stringify(values);

export type KnownStatements = <Result>(
  shape: string,
  build: () => Compilable<Result>,
  values: Record<string, unknown>,
) => CompiledQuery<Result>;

/** Statements with blanks, built once for each shape: building one costs more than many take to run. */
export const knownStatements = (): KnownStatements => {
  const known = new Map<string, CompiledQuery>();
  return <Result>(
    shape: string,
    build: () => Compilable<Result>,
    values: Record<string, unknown>,
  ): CompiledQuery<Result> => {
    let statement = known.get(shape);
    if (!statement) {
      statement = build().compile();
      known.set(shape, statement);
    }
    return {
      ...statement,
      parameters: statement.parameters.map((each) =>
        each instanceof Blank ? each.encode(values[each.name]) : each,
      ),
    } as CompiledQuery<Result>;
  };
};
