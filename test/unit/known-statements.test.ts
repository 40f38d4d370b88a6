import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import { expect, it } from 'vitest';
import { asJson, blank, knownStatements } from '../../src/db/known-statements.ts';

const db = new Kysely<{ shelf: { name: string; place: number } }>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (on) => new SqliteIntrospector(on),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

it('a statement is built once and gets its values, each in its place, when it is run', () => {
  const known = knownStatements();
  let built = 0;
  const build = () => {
    built += 1;
    return db
      .selectFrom('shelf')
      .selectAll()
      .where('place', '>', blank<number>('from'))
      .where('name', '=', 'fixed')
      .where(sql<boolean>`name in (select value from json_each(${asJson(blank('names'))}))`)
      .limit(blank<number>('most'));
  };
  const run = (from: number, names: string[]) => known('shelf', build, { most: 7, from, names });
  expect(run(1, ['a']).parameters).toEqual([1, 'fixed', '["a"]', 7]);
  expect(run(2, ['b', 'c']).parameters).toEqual([2, 'fixed', '["b","c"]', 7]);
  expect(built).toBe(1);
  expect(run(3, []).sql).toBe(build().compile().sql);
});
