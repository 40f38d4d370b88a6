import type { DryRun } from '../../../contract/usage.ts';
import type { Base } from '../../base.ts';
import type { Caller } from '../../caller.ts';
import { ServiceError } from '../../errors.ts';
import { usageOf } from '../../shops/allowance.ts';
import { readCounters } from '../../shops/counters.ts';
import { findDangerous } from '../../shops/dangerous-goods.ts';
import { readKey } from '../idempotency.ts';
import { type CreateRequest, creationOf } from './creation.ts';
import { decide, HELD } from './decide.ts';
import { goodsOf } from './read.ts';

interface Answer {
  status: DryRun['status'];
  isDangerous?: boolean;
}

/** Decides on a creation as things stand, and leaves it at that: it reads without locks and writes nothing (decision 146). */
export const tryCreation = async (
  ctx: Pick<Base, 'clock' | 'reads' | 'fill' | 'rows'>,
  caller: Caller,
  request: CreateRequest<Answer>,
): Promise<DryRun> => {
  const { shop } = caller;
  const creation = creationOf(caller, request, ctx.clock.now());
  const [memory, counters, isDangerous] = await Promise.all([
    readKey(ctx, creation.use),
    readCounters(ctx, [shop.id]),
    findDangerous(ctx, ctx.reads, goodsOf([creation])),
  ]);
  const [outcome = HELD] = decide([creation], { memory, counters, isDangerous }).outcomes;
  if (outcome === HELD) throw new ServiceError('SERVICE_UNAVAILABLE');
  if (outcome instanceof ServiceError) throw outcome;
  const answer = outcome.answer as Answer;
  const { remaining } = usageOf(counters.get(shop.id), shop, creation.nowMs);
  return { dryRun: true, status: answer.status, isDangerous: answer.isDangerous ?? null, remaining };
};
