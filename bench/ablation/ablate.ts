import { serviceWork } from '../contestants.ts';
import type { Effort } from '../effort.ts';
import { FULL } from '../effort.ts';
import type { Engine } from '../engines.ts';
import { drained } from '../measurements/drain.ts';
import { type Contestant, takeTurns } from '../rounds.ts';
import { openStage, type Stage } from '../stage.ts';
import { MECHANISMS, type Mechanism, type Purpose } from './mechanisms.ts';
import { makeVariant } from './variant.ts';

// Switches off each mechanism that exists only for speed, and measures what it gains in what it is for.

const ENGINE: Engine = 'postgres';
const EFFORT: Effort = { ...FULL, rounds: 5, warmUpSeconds: 2, medium: 10_000, small: 2_000, backlog: 5_000 };
/** What gains less is not worth its code. */
const WORTH_IT = 1.1;

type Work = Contestant<'figure'>;

/** How well it goes: more is better. */
const WORKS: Record<Purpose, (stage: Stage) => Promise<Work>> = {
  create: async (stage) => perSecond(serviceWork(await stage.manyShops()).createOver()),
  'one creation': async (stage) => perSecond(serviceWork(await stage.manyShops(), 1).createOver()),
  get: async (stage) => perSecond(serviceWork(await stage.manyShops()).get()),
  'one get': async (stage) => perSecond(serviceWork(await stage.manyShops(), 1).get()),
  list: async (stage) => perSecond(serviceWork(await stage.manyShops()).list(() => '')),
  drain: async (stage) => {
    const house = await stage.webhooks();
    return async () => ({ figure: (await drained(house, EFFORT.backlog)).perSecond });
  },
};

const perSecond =
  (work: Contestant<'perSecond'>): Work =>
  async (seconds) => ({ figure: (await work(seconds)).perSecond });

interface Gain {
  mechanism: Mechanism;
  withIt: number;
  withoutIt: number;
}

const gainOf = async (whole: Stage, mechanism: Mechanism): Promise<Gain> => {
  const variant = makeVariant(mechanism.edits);
  const without = openStage(ENGINE, EFFORT, { root: variant.root, flags: !mechanism.withoutFlags });
  try {
    const work = WORKS[mechanism.purpose];
    const figures = await takeTurns(EFFORT, { withIt: await work(whole), withoutIt: await work(without) });
    return { mechanism, withIt: figures.withIt.figure, withoutIt: figures.withoutIt.figure };
  } finally {
    await without.close();
    variant.remove();
  }
};

const lineOf = ({ mechanism, withIt, withoutIt }: Gain): string => {
  const factor = withIt / withoutIt;
  const gain = `${factor >= 1 ? '+' : ''}${((factor - 1) * 100).toFixed(0)} %`;
  const verdict = factor >= WORTH_IT ? 'stays' : 'below 10 %';
  return `${mechanism.name.padEnd(60)} ${mechanism.purpose.padEnd(20)} ${gain.padStart(7)}  ${verdict}`;
};

/** Measures all mechanisms, or those whose names contain one of these texts, separated by commas. */
export const ablate = async (say: (line: string) => void, only = ''): Promise<void> => {
  // A copy of the sources too, so that nothing else differs.
  const { root, remove } = makeVariant([]);
  const whole = openStage(ENGINE, EFFORT, { root, flags: true });
  try {
    for (const mechanism of MECHANISMS.filter(({ name }) =>
      only.split(',').some((text) => name.includes(text)),
    ))
      say(lineOf(await gainOf(whole, mechanism)));
  } finally {
    await whole.close();
    remove();
  }
};
