import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { asJson, CompiledStatements, change, statement, statementsBy } from '../../src/db/statements.ts';
import type { Db, Engine } from '../../src/db/types.ts';

const db: Db = new Kysely({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (on) => new SqliteIntrospector(on),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});
const engine: Engine = {
  db,
  rows: (_alias, _columns, values) => sql`json_each(${asJson(values)})`,
  oneOf: (_kind, values) => sql`in (select value from json_each(${asJson(values)}))`,
  among: (query) => sql`in (${query})`,
  forEachRow: (alias, query) => sql`(${query}) as ${sql.id(alias)}`,
  contains: (column, part) => sql`${sql.ref(column)} like ${part}`,
  containsAnyCase: (column, part) => sql`${sql.ref(column)} like ${part}`,
};

let built = 0;
const someShops = statement(({ db: on, oneOf }, params: { plans: string[]; since: number; most: number }) => {
  built += 1;
  return on
    .selectFrom('shops')
    .select('id')
    .where('created_at', '>', params.since)
    .where('subscription', '=', 'active')
    .where(sql<boolean>`plan ${oneOf('text', params.plans)}`)
    .limit(params.most);
});

describe('a statement', () => {
  it('is compiled once and gets its values when it is run', () => {
    const { fill } = new CompiledStatements(engine);
    const run = (since: number, plans: string[]) => fill(someShops, { most: 7, since, plans });
    expect(run(1, ['a']).parameters).toEqual([1, 'active', '["a"]', 7]);
    expect(run(2, ['b', 'c']).parameters).toEqual([2, 'active', '["b","c"]', 7]);
    expect(built).toBe(1);
    expect(run(3, []).sql).toBe(run(4, ['d']).sql);
  });

  it('can only be built from its parameters, not from values', () => {
    const { fill } = new CompiledStatements(engine);
    const wrong = statement(({ db: on }, { most }: { most: number }) =>
      on
        .selectFrom('shops')
        .select('id')
        .limit(most + 1),
    );
    expect(() => fill(wrong, { most: 1 })).toThrow('the parameter most has no value');
  });

  it('is defined once for each shape, and evicted if there are too many', () => {
    let defined = 0;
    const by = statementsBy((_words: number[]) => {
      defined += 1;
      return statement(({ db: on }, { id }: { id: string }) =>
        on.selectFrom('shops').select('id').where('id', '=', id),
      );
    });
    expect(by([1])).toBe(by([1]));
    expect(by([1, 2])).not.toBe(by([1]));
    for (let words = 2; words <= 1_000; words++) by([words]);
    expect(defined).toBe(1_001);
    by([1]);
    expect(defined).toBe(1_002);
  });
});

it('several changes become one statement with consecutive parameter numbers', () => {
  const { together } = new CompiledStatements(engine);
  const rename = statement(({ db: on }, { id, name }: { id: string; name: string }) =>
    on.updateTable('shops').set({ name }).where('id', '=', id),
  );
  const forget = statement(
    (_engine, { ids }: { ids: string[] }) => sql`delete from users where id in (${asJson(ids)})`,
  );
  const one = together([
    change(rename, { id: '1', name: 'One' }),
    change(forget, { ids: ['9'] }),
    change(rename, { id: '2', name: 'Two' }),
  ]);
  expect(one.sql).toBe(
    'with "change0" as (update "shops" set "name" = ? where "id" = ?), ' +
      '"change1" as (delete from users where id in (?)), ' +
      '"change2" as (update "shops" set "name" = ? where "id" = ?) select',
  );
  expect(one.parameters).toEqual(['One', '1', '["9"]', 'Two', '2']);
});
