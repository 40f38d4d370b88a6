import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Trx } from '../db/database.ts';
import { newId } from '../ids.ts';
import { takePlace } from '../shops/allowance.ts';
import type { Event, EventSubject } from '../webhooks/outbox.ts';
import { type Created, createOnce } from './idempotency.ts';

/** What both kinds of RMA begin with. */
export interface NewRma {
  id: string;
  shop_id: string;
  client_id: string | null;
  number: number;
  external_ref: string | null;
  external_source: string | null;
  created_at: number;
  updated_at: number;
}

interface Inserted<Answer> {
  row: EventSubject;
  answer: Answer;
  event: Event;
  note?: string | null;
  data?: Record<string, unknown>;
}

interface CreateRequest {
  /** The collection's path, so that the same key on the other kind is another request. */
  path: string;
  body: { externalRef: string | null; externalSource: string | null };
  key: string | undefined;
}

/** Creates an RMA of either kind: a place in the allowance, a number, the row, its first entry and event, all or nothing. */
export const createRma = <Answer>(
  ctx: Context,
  caller: Caller,
  request: CreateRequest,
  insert: (trx: Trx, rma: NewRma) => Promise<Inserted<Answer>>,
): Promise<Created<Answer>> =>
  createOnce(ctx, caller, request, async (trx, record, nowMs) => {
    const { shop, actor } = caller;
    const number = await takePlace(trx, shop, nowMs);
    const { row, answer, event, note, data } = await insert(trx, {
      id: newId(nowMs),
      shop_id: shop.id,
      client_id: actor.type === 'API_CLIENT' ? actor.id : null,
      number,
      external_ref: request.body.externalRef,
      external_source: request.body.externalSource,
      created_at: nowMs,
      updated_at: nowMs,
    });
    await record(row, {
      type: 'CREATED',
      at: nowMs,
      fromStatus: null,
      note: note ?? null,
      data: data ?? {},
      event,
    });
    return answer;
  });
