import type { Actor } from '../../contract/common.ts';
import type { TimelineType } from '../../contract/lifecycle.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Trx } from '../db/database.ts';
import { ServiceError } from '../errors.ts';
import { newId } from '../ids.ts';
import { type Event, type EventSubject, enqueue } from '../webhooks/outbox.ts';

/** A change that was just made to an RMA: what its timeline tells of it, and the event it fires. */
interface Change {
  type: TimelineType;
  at: number;
  fromStatus: string | null;
  note: string | null;
  data: Record<string, unknown>;
  event: Event | null;
}

/** Writes a change down, in the transaction that makes it: no change without its entry and event, and none without it. */
export type Recorder = (rma: EventSubject, change: Change) => Promise<void>;

/** Times of one RMA strictly rise, also when two changes fall into the same millisecond. */
export const nextInstant = (nowMs: number, lastMs: number): number => Math.max(nowMs, lastMs + 1);

/** Runs `work` in a transaction of its own and, once it is committed, wakes whoever sends the events it recorded. */
export const recording = async <Result>(
  ctx: Context,
  { shop, actor }: Caller,
  work: (trx: Trx, record: Recorder) => Promise<Result>,
): Promise<Result> => {
  // Programs were turned away at the gate already; this also holds for staff.
  if (!shop.active) throw new ServiceError('READ_ONLY');
  const receivers = new Set<string>();
  const result = await ctx.db.transaction().execute((trx) =>
    work(trx, async (rma, change) => {
      await writeEntry(trx, rma, actor, change);
      const receiver = change.event && (await enqueue(trx, shop, rma, change.at, change.event));
      if (receiver) receivers.add(receiver);
    }),
  );
  for (const receiver of receivers) ctx.wake(receiver);
  return result;
};

const writeEntry = async (trx: Trx, rma: EventSubject, actor: Actor, change: Change): Promise<void> => {
  await trx
    .insertInto('timeline')
    .values({
      rma_id: rma.id,
      at: change.at,
      id: newId(change.at),
      type: change.type,
      actor_type: actor.type,
      actor_id: actor.id,
      actor_name: actor.name,
      from_status: change.fromStatus,
      to_status: rma.status,
      note: change.note,
      data: JSON.stringify(change.data),
    })
    .execute();
};
