import type { Actor } from '../../contract/common.ts';
import type { TimelineType } from '../../contract/lifecycle.ts';
import type { Trx } from '../db/database.ts';
import { newId } from '../ids.ts';

/** A change that was just made to an RMA, as its timeline tells it. */
export interface Change {
  type: TimelineType;
  at: number;
  actor: Actor;
  fromStatus: string | null;
  toStatus: string | null;
  note: string | null;
  data: Record<string, unknown>;
}

/** Times of one RMA strictly rise, also when two changes fall into the same millisecond. */
export const nextInstant = (nowMs: number, lastMs: number): number => Math.max(nowMs, lastMs + 1);

/** Writes the change down in the transaction that makes it. */
export const record = async (trx: Trx, rmaId: string, change: Change): Promise<void> => {
  await trx
    .insertInto('timeline')
    .values({
      rma_id: rmaId,
      at: change.at,
      id: newId(change.at),
      type: change.type,
      actor_type: change.actor.type,
      actor_id: change.actor.id,
      actor_name: change.actor.name,
      from_status: change.fromStatus,
      to_status: change.toStatus,
      note: change.note,
      data: JSON.stringify(change.data),
    })
    .execute();
};
