import type { SchemaChange } from '../schema-change.ts';

/** What people are called, for timelines that programs read. */
export const names: SchemaChange = async ({ schema }) => {
  await schema.alterTable('users').addColumn('name', 'text').execute();
};
