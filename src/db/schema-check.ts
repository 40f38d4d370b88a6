import {
  type ColumnDefinitionNode,
  type DataTypeNode,
  DummyDriver,
  Kysely,
  type RawNode,
  type RootOperationNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { SchemaChange, SchemaPart, SchemaWords } from './schema-change.ts';

const typeOf = (type: ColumnDefinitionNode['dataType']): string =>
  type.kind === 'RawNode' ? (type as RawNode).sqlFragments.join('') : (type as DataTypeNode).dataType;

const columnPart = (table: string, { column, dataType, notNull }: ColumnDefinitionNode): SchemaPart => ({
  name: `${table}.${column.column.name}`,
  type: `${typeOf(dataType)}${notNull ? ' not null' : ''}`,
});

const partsOf = (statement: RootOperationNode): SchemaPart[] => {
  if (statement.kind === 'CreateTableNode') {
    const table = statement.table.table.identifier.name;
    return statement.columns.map((column) => columnPart(table, column));
  }
  if (statement.kind === 'CreateIndexNode')
    return [{ name: statement.name.name, type: statement.unique ? 'unique index' : 'index' }];
  return [];
};

/**
 * What the migrations create, read from the statements that they send: no second list that could differ from them. Written as
 * text (`sql`) a statement is not seen here; a test compares the result with a database that was just migrated.
 */
export const expectedSchema = async (
  changes: readonly SchemaChange[],
  words: SchemaWords,
): Promise<SchemaPart[]> => {
  const statements: RootOperationNode[] = [];
  const recorder = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
    log: ({ query }) => void statements.push(query.query),
  });
  for (const change of changes) await change(recorder, { ...words, notice: () => {} });
  return statements.flatMap(partsOf);
};

/** What of it is missing or of another type, in words. Whatever else there is does no harm: a later release may have added it. */
export const differences = (expected: readonly SchemaPart[], found: readonly SchemaPart[]): string[] => {
  const types = new Map(found.map(({ name, type }) => [name, type]));
  return expected.flatMap(({ name, type }) => {
    const real = types.get(name);
    // A later release may also let a column be empty.
    if (real === type || `${real} not null` === type) return [];
    return [real === undefined ? `${name} is missing` : `${name} is "${real}" instead of "${type}"`];
  });
};
