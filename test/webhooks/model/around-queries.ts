import { type CompiledQuery, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { Db } from '../../../src/db/database.ts';

/** The same database, with something that happens before and after each statement, also after one that fails. */
export const aroundQueries = (
  db: Db,
  { before = async () => {}, after }: { before?: () => Promise<void>; after: () => Promise<void> },
): Db =>
  new Kysely({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createIntrospector: (on) => new SqliteIntrospector(on),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createDriver: () => ({
        async init() {},
        async acquireConnection() {
          return {
            async executeQuery<Row>(query: CompiledQuery) {
              await before();
              try {
                return await db.executeQuery(query as CompiledQuery<Row>);
              } finally {
                await after();
              }
            },
            async *streamQuery() {},
          };
        },
        async beginTransaction() {},
        async commitTransaction() {},
        async rollbackTransaction() {},
        async releaseConnection() {},
        async destroy() {},
      }),
    },
  }) as Db;
