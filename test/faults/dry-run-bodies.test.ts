// engines: sqlite, postgres

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addRules } from '../../src/shops/dangerous-goods.ts';
import { KINDS, refusalOf } from '../support/api.ts';
import { withoutTrace } from '../support/dump.ts';
import { type Answer, ENGINE, harness } from '../support/harness.ts';
import { anything, type Bytes, goodBodies, ownBodies } from '../support/random-bodies.ts';

describe('random bodies', () => {
  /** 2,000 of both kinds together; fewer where only storing could differ (ADR 0029). */
  const BATCHES = ENGINE === 'sqlite' ? 25 : 12;
  const BATCH = 20;

  it.each(KINDS)(
    'at /%s are accepted by a dry run exactly if the real call accepts them, and it stores nothing',
    async (kind) => {
      const t = await harness({ plan: 'ENTERPRISE', env: { LOG_LEVEL: 'fatal' } });
      await addRules(
        t.ctx,
        t.ctx.db as never,
        t.shop.id,
        [...'abcdefghijklm'].map((letter) => `${letter}*`),
      );
      const good = goodBodies[`/${kind}`] as fc.Arbitrary<unknown>;
      const bodies = fc.sample(
        fc.array(anything(good, ownBodies[`/${kind}`]), { minLength: BATCH, maxLength: BATCH, size: 'max' }),
        BATCHES,
      );
      const send = async (path: string): Promise<Answer[]> => {
        const answers: Answer[] = [];
        for (const batch of bodies)
          answers.push(...(await Promise.all(batch.map((body) => t.post(path, body)))));
        return answers;
      };
      const tried = await withoutTrace(t, () => send(`/${kind}/dry-run`));
      const real = await send(`/${kind}`);
      const sent: Bytes[] = bodies.flat();
      expect(tried).toHaveLength(BATCHES * BATCH);
      for (const [i, { status, body }] of real.entries()) {
        const dry = tried[i] as Answer;
        const told = `for the body ${Buffer.from(sent[i] as string)
          .toString('latin1')
          .slice(0, 600)}`;
        if (status === 201) {
          expect(dry, told).toHaveStatus(200);
          expect(dry.body, told).toEqual({
            dryRun: true,
            status: body.status,
            isDangerous: body.isDangerous ?? null,
            remaining: null,
          });
        } else expect(refusalOf(dry), told).toEqual(refusalOf({ status, body } as Answer));
      }
      const taken = real.filter(({ status }) => status === 201).length;
      expect(taken).toBeGreaterThan(BATCHES);
      expect(real.length - taken).toBeGreaterThan(BATCHES);
    },
  );
});
