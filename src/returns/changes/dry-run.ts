import type { DryRun } from '../../../contract/usage.ts';
import type { Base } from '../../base.ts';
import { ServiceError } from '../../errors.ts';
import { usageOf } from '../../shops/allowance.ts';
import { Decision, LOCKED, type Wanted } from './decide.ts';
import { Reading } from './read.ts';

/** Decides on a creation as things stand: it reads without locks and writes nothing (docs/contract.md). */
export const tryChange = async (ctx: Pick<Base, 'reads' | 'fill'>, wanted: Wanted): Promise<DryRun> => {
  const { shop } = wanted.caller;
  const reading = new Reading(ctx, [wanted], 'none');
  const answers = await Promise.all(reading.queries.map((query) => ctx.reads.executeQuery<object>(query)));
  const facts = reading.factsFrom(answers.map(({ rows }) => rows));
  const decision = new Decision(facts);
  decision.add(wanted);
  const [result = LOCKED] = decision.results;
  if (result === LOCKED) throw new ServiceError('SERVICE_UNAVAILABLE');
  if (result instanceof ServiceError) throw result;
  const answer = result.answer as { status: DryRun['status']; isDangerous?: boolean };
  const { remaining } = usageOf(facts.counters.get(shop.id), shop, wanted.nowMs);
  return { dryRun: true, status: answer.status, isDangerous: answer.isDangerous ?? null, remaining };
};
