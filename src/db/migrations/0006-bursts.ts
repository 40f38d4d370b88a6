import type { SchemaChange } from '../schema-change.ts';

/** The short of two windows stands in the row of the long one: a call that both count is one write. */
export const bursts: SchemaChange = async ({ schema }) => {
  for (const column of ['burst_points', 'burst_expire'] as const)
    await schema.alterTable('rate_limits').addColumn(column, 'bigint').execute();
};
