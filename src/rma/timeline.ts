import { instant, type TimelineEntry } from '../../contract/common.ts';
import type { Db } from '../db/database.ts';

/** Oldest first. The caller has made sure that the RMA is its own. */
export const readTimeline = async (db: Db, rmaId: string): Promise<{ items: TimelineEntry[] }> => {
  const rows = await db
    .selectFrom('timeline')
    .selectAll()
    .where('rma_id', '=', rmaId)
    .orderBy('at')
    .execute();
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
