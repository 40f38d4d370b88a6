import type { TimelineEntry } from '../../../../contract/common.ts';
import { MOVE_ENTRIES, type TimelineType } from '../../../../contract/lifecycle.ts';
import { describeStatus, dispositionLabel } from '../labels.ts';

// What somebody did, as one tells a colleague: "closed it".

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const SENTENCES: Partial<Record<TimelineType, (entry: TimelineEntry) => string>> = {
  TRACKING_UPLOADED: ({ data }) => `added tracking ${textOf(data['trackingNumber'])}`,
  STATUS_CHANGED: ({ toStatus }) => `changed the status to ${describeStatus(toStatus ?? '').label}`,
  DISPOSITION_SET: ({ data }) => `resolved it (${dispositionLabel(textOf(data['offlineDisposition']))})`,
  CLOSED: () => 'closed it',
  CREDIT_REQUESTED: () => 'requested the credit',
  RESOLVED: () => 'resolved it',
};

export const whatHappened = (entry: TimelineEntry): string =>
  SENTENCES[entry.type]?.(entry).trim() ?? 'changed it';

/** The moves that were made after this time. */
export const movesSince = (entries: readonly TimelineEntry[], seen: string): TimelineEntry[] =>
  entries.filter(({ at, type }) => at > seen && MOVE_ENTRIES.includes(type));
