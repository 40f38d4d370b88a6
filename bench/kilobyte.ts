import { toIso } from '../src/lib/time.ts';
import { repairBody } from '../test/support/bodies.ts';
import { newRepair, viewOf } from './baselines/repair.ts';

export const KILOBYTE_EVENT = 'offline_repair.created';
const LENGTH = 1024;

/** An event's body of one kilobyte, filled up with the customer's words. */
export const kilobyteBody = (): string => {
  const bodyWith = (notes: string): string => {
    const data = viewOf(newRepair('01900000-0000-7000-8000-000000000000', { ...repairBody(), notes }));
    return JSON.stringify({ event: KILOBYTE_EVENT, timestamp: toIso(Date.now()), data });
  };
  return bodyWith('x'.repeat(LENGTH - bodyWith('').length));
};
