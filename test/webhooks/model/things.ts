import type { Context } from '../../../src/service/context.ts';
import type { Dispatcher } from '../../../src/webhooks/worker/dispatcher.ts';
import type { ProcessTime } from './simulation.ts';

// What there is in the simulated world.

export const BEHAVIOURS = ['acknowledges', 'dawdles', 'fails', 'hangs', 'refuses'] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** One request that a receiver saw. */
export interface Exchange {
  deliveryId: string;
  receiver: number;
  process: Process;
  /** 1 to 4. */
  attempt: number;
  startedAt: number;
  /** When its process knew the outcome; null before that. */
  endedAt: number | null;
  acknowledged: boolean;
  /** A stop broke it off. */
  abandoned: boolean;
}

export interface Process {
  name: string;
  state: 'awake' | 'asleep' | 'stopping' | 'gone';
  /** When it last returned from sleep. */
  returnedAt: number;
  time: ProcessTime;
  dispatcher: Dispatcher;
  listener: ((clientId: string | null) => void) | null;
}

export interface Delivery {
  id: string;
  receiver: number;
  createdAt: number;
}

/** The database and its receivers, made once for all runs. */
export interface Ground {
  ctx: Context;
  receivers: { id: string; url: string }[];
}
