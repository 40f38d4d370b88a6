import { randomUUID } from 'node:crypto';

const timeOf = (ms: number): string => {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
};

/** A UUIDv7, so that ids sort by age and index well. The random part is a UUIDv4's, for which Node buffers randomness. */
export const newId = (ms: number): string => `${timeOf(ms)}-7${randomUUID().slice(15)}`;

/** The lowest id of this time. Ids sort by time. */
export const lowestId = (ms: number): string => `${timeOf(ms)}-7000-8000-000000000000`;
