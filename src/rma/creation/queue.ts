import type { Base } from '../../base.ts';
import type { Caller } from '../../caller.ts';
import { batched } from '../../db/batch.ts';
import type { ReadThenWrite } from '../../db/database.ts';
import { isLockTimeout } from '../../db/errors.ts';
import type { Results } from '../../db/pending.ts';
import type { ServiceError } from '../../errors.ts';
import type { ShopTurns } from '../../shops/turns.ts';
import { type Created, keysInUse } from '../idempotency.ts';
import { type CreateRequest, type Creation, creationOf, type Done } from './creation.ts';
import { decide, HELD } from './decide.ts';
import { createWaitingRoom } from './locked-shops.ts';
import { readFacts } from './read.ts';
import { writesOf } from './write.ts';

// The way of a creation: queue → read → decide → write.

/** Creates an RMA of either kind: a place in the allowance, a number, the row, its first entry and event, all or nothing. */
export const createRma = async <Answer>(
  ctx: Pick<Base, 'clock' | 'wake'> & { creations: Creations },
  caller: Caller,
  request: CreateRequest<Answer>,
): Promise<Created<Answer>> => {
  const creation = creationOf(caller, request, ctx.clock.now());
  const { alone, create } = ctx.creations;
  const { outcome, receiver } = await alone(creation.use, () => create(creation));
  // Committed: what follows is outside of everything that may be tried again.
  if (receiver !== null) ctx.wake('deliveries', receiver);
  if (!outcome.replayed && caller.actor.type === 'API_CLIENT') ctx.wake('events', caller.shop.id);
  return outcome as Created<Answer>;
};

export type Creations = ReturnType<typeof openCreations>;

/** The queue of creations: built once, in `openContext`. */
export const openCreations = (ctx: Base, turns: ShopTurns) => {
  const transaction = ctx.pipelinedTransactions();
  const { wait } = createWaitingRoom(ctx.batchSize, turns, (batch) =>
    createAll(ctx, ctx.atomically, batch, 'wait'),
  );
  const createBatch = async (batch: Creation[], sent: () => void): Promise<Results<Done>> => {
    const results = await createAll(ctx, (work) => transaction(work, sent), batch, 'leave out').catch(
      (error) => {
        // Some other row of one of these shops is held: each shop is tried by itself, and waits for its own.
        if (isLockTimeout(error)) return batch.map((): Result => HELD);
        throw error;
      },
    );
    return batch.map((creation, i) => {
      const result = results[i] ?? HELD;
      return result === HELD ? wait(creation) : result;
    });
  };
  return { alone: keysInUse(), create: batched<Creation, Done>(createBatch, { most: ctx.batchSize }) };
};

type Result = Done | ServiceError | typeof HELD;

/** Many creations in one transaction. Of shops whose counters somebody else holds, they are waited for or left out. */
const createAll = async (
  ctx: Base,
  transaction: ReadThenWrite,
  batch: Creation[],
  heldCounters: 'wait' | 'leave out',
): Promise<Result[]> => {
  const { outcomes, receivers } = await transaction(async (trx) => {
    const facts = await readFacts(ctx, trx, batch, heldCounters);
    const decision = decide(batch, facts);
    const { writes, receivers } = writesOf(decision, facts.reachable);
    return { writes, result: { outcomes: decision.outcomes, receivers } };
  });
  return outcomes.map((outcome, i) =>
    outcome === HELD || outcome instanceof Error
      ? outcome
      : { outcome, receiver: receivers.get(batch[i]?.id ?? '') ?? null },
  );
};
