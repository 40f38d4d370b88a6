import type { Engine } from './engines.ts';
import type { Stage } from './stage.ts';

type Unit = '/s' | 'ms' | 'MB' | 's' | '%';

/** A bound on the ratio to the baseline where there is one, on the figure itself where there is none. */
interface Goal {
  bound: 'least' | 'most';
  value: number;
}

/** One line of the table. */
export interface Row {
  work: string;
  /** The same in a few words, where a picture shows the row. */
  short?: string;
  engine: Engine;
  measured: number;
  unit: Unit;
  baseline?: { name: string; value: number };
  goal: Goal;
}

/** What the pictures and the text need beyond the table. */
export interface Extras {
  /** Milliseconds by work and by number of RMAs. */
  growth?: { engine: Engine; work: string; times: { rmas: number; ms: number }[] }[];
  bytes?: { perRepair: number; perTimelineEntry: number; perDelivery: number };
  /** What is measured beside the rows: requests a second by name. */
  asides?: Record<string, number>;
}

export interface Measurement {
  name: string;
  engines: readonly Engine[];
  run(stage: Stage): Promise<{ rows: Row[]; extras?: Extras }>;
}

export const ratioOf = ({ measured, baseline }: Row): number | null =>
  baseline ? measured / baseline.value : null;

export const isMet = (row: Row): boolean => {
  const figure = ratioOf(row) ?? row.measured;
  return row.goal.bound === 'least' ? figure >= row.goal.value : figure <= row.goal.value;
};
