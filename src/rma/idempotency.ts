import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Db, Trx } from '../db/database.ts';
import { ServiceError } from '../errors.ts';
import { sha256 } from '../secrets.ts';
import { type Recorder, recording } from './record.ts';

const REMEMBERED_MS = 24 * 60 * 60 * 1000;
const PRUNED_AT_ONCE = 1000;

/** What was created, and whether it is the answer of an earlier request with the same key. */
export interface Created<Answer> {
  answer: Answer;
  replayed: boolean;
}

/**
 * Runs `create` in one transaction and, where the caller sent a key, remembers its answer in the same one. Only success
 * is remembered: a failure rolls the memory back with everything else. `body` is the validated body, so spacing and the
 * order of fields make no difference.
 */
export const createOnce = async <Answer>(
  ctx: Context,
  caller: Caller,
  request: { path: string; body: unknown; key: string | undefined },
  create: (trx: Trx, record: Recorder, nowMs: number) => Promise<Answer>,
): Promise<Created<Answer>> => {
  const { key } = request;
  const nowMs = ctx.clock.now();
  const clientId = caller.actor.id;
  if (key === undefined || clientId === null) {
    return {
      answer: await recording(ctx, caller, (trx, record) => create(trx, record, nowMs)),
      replayed: false,
    };
  }
  const bodyHash = sha256(`${request.path}\n${JSON.stringify(request.body)}`);
  return recording(ctx, caller, async (trx, record) => {
    if (!(await ctx.tryLock(trx, `${clientId}:${key}`))) throw new ServiceError('IDEMPOTENCY_KEY_IN_USE');
    const first = await trx
      .selectFrom('idempotency_keys')
      .select(['body_hash', 'answer', 'created_at'])
      .where('client_id', '=', clientId)
      .where('key', '=', key)
      .executeTakeFirst();
    if (first && first.created_at > nowMs - REMEMBERED_MS) {
      if (first.body_hash !== bodyHash) throw new ServiceError('IDEMPOTENCY_KEY_REUSED');
      return { answer: JSON.parse(first.answer) as Answer, replayed: true };
    }
    const answer = await create(trx, record, nowMs);
    if (first)
      await trx
        .deleteFrom('idempotency_keys')
        .where('client_id', '=', clientId)
        .where('key', '=', key)
        .execute();
    await trx
      .insertInto('idempotency_keys')
      .values({
        client_id: clientId,
        key,
        body_hash: bodyHash,
        answer: JSON.stringify(answer),
        created_at: nowMs,
      })
      .execute();
    return { answer, replayed: false };
  });
};

/** Forgets what is past its day, a bounded number at a time so that nobody waits long; true when more is left. */
export const forgetExpiredKeys = async (db: Db, nowMs: number): Promise<boolean> => {
  const { numDeletedRows } = await db
    .deleteFrom('idempotency_keys')
    .where((eb) =>
      eb(
        eb.refTuple('client_id', 'key'),
        'in',
        eb
          .selectFrom('idempotency_keys')
          .select(['client_id', 'key'])
          .where('created_at', '<=', nowMs - REMEMBERED_MS)
          .orderBy('created_at')
          .limit(PRUNED_AT_ONCE)
          .$asTuple('client_id', 'key'),
      ),
    )
    .executeTakeFirst();
  return numDeletedRows === BigInt(PRUNED_AT_ONCE);
};
