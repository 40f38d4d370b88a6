import { isId, type TimelineEntry } from '../../contract/common.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { TIMELINE_COLUMNS } from '../db/columns.ts';
import { ServiceError } from '../errors.ts';
import { instant } from '../instant.ts';
import { findRma } from './store.ts';
import type { RmaTableName } from './visibility.ts';

/** Oldest first, for whoever may see the RMA. */
export const readTimeline = async (
  ctx: Context,
  table: RmaTableName,
  caller: Caller,
  rmaId: string,
): Promise<{ items: TimelineEntry[] }> => {
  if (!isId(rmaId)) throw new ServiceError('NOT_FOUND');
  const [rows] = await Promise.all([
    ctx.db
      .selectFrom('timeline')
      .select(TIMELINE_COLUMNS)
      .where('rma_id', '=', rmaId)
      .orderBy('at')
      .execute(),
    findRma(ctx, table, caller, rmaId),
  ]);
  return {
    items: rows.map((row) => ({
      id: row.id,
      type: row.type,
      at: instant(row.at),
      actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
      fromStatus: row.from_status,
      toStatus: row.to_status,
      note: row.note,
      data: JSON.parse(row.data),
    })),
  };
};
