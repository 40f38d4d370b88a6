import '@mantine/core/styles/Timeline.css';
import { Group, Text, Timeline } from '@mantine/core';
import {
  ArrowRight,
  CircleCheck,
  Eraser,
  FilePlus,
  type LucideIcon,
  MessageSquare,
  PackageCheck,
  PencilLine,
  ReceiptText,
  Truck,
  UserRound,
} from 'lucide-react';
import type { Actor, TimelineEntry } from '../../../../contract/common.ts';
import { ERASED_TEXT, type TimelineType } from '../../../../contract/lifecycle.ts';
import type { ReceivedLine } from '../../../../contract/trade-return.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Hint, isErased, OrErased } from '../../ui/two-lines.tsx';
import { StatusBadge } from '../badges.tsx';
import { CORRECTED_LABELS, describeStatus, dispositionLabel } from '../kinds.ts';
import { formatAmount, formatNumber } from '../numbers.ts';
import { FoldedText } from './facts.tsx';

const ENTRIES: Record<TimelineType, { icon: LucideIcon; label: string }> = {
  CREATED: { icon: FilePlus, label: 'created this return' },
  TRACKING_UPLOADED: { icon: Truck, label: 'added tracking' },
  STATUS_CHANGED: { icon: ArrowRight, label: 'changed the status' },
  DISPOSITION_SET: { icon: PackageCheck, label: 'decided what becomes of the item' },
  CLOSED: { icon: CircleCheck, label: 'closed it' },
  CREDIT_REQUESTED: { icon: ReceiptText, label: 'requested the credit' },
  RESOLVED: { icon: CircleCheck, label: 'resolved it' },
  ITEMS_RECEIVED: { icon: PackageCheck, label: 'counted what arrived' },
  NOTE_ADDED: { icon: MessageSquare, label: 'noted' },
  CORRECTED: { icon: PencilLine, label: 'corrected it' },
  ASSIGNED: { icon: UserRound, label: 'assigned it' },
  ERASED: { icon: Eraser, label: 'erased the customer’s data' },
};

/** A program may repeat a move, and staff close a repair twice: the entry stands for what was said, not for a change. */
const actionOf = ({ type, fromStatus, toStatus }: TimelineEntry): string =>
  (type === 'STATUS_CHANGED' || type === 'CLOSED') && toStatus !== null && toStatus === fromStatus
    ? `confirmed the status: still ${describeStatus(toStatus).label}`
    : ENTRIES[type].label;

const ACTOR_LABELS: Record<Actor['type'], string> = {
  API_CLIENT: 'API client',
  USER: 'staff',
  SYSTEM: 'system',
};

const textOrNull = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

/** "Phone: 555 (was: none)" for each field that was corrected. */
const correctedLines = ({ data }: TimelineEntry): string[] =>
  Object.entries(data).map(([field, change]) => {
    const { from, to } = (change ?? {}) as { from?: unknown; to?: unknown };
    const label = CORRECTED_LABELS[field as keyof typeof CORRECTED_LABELS] ?? field;
    if (isErased(textOrNull(to)) || isErased(textOrNull(from))) return `${label}: ${ERASED_TEXT}`;
    return `${label}: ${textOrNull(to) ?? 'none'} (was: ${textOrNull(from) ?? 'none'})`;
  });

const MOST_LINES = 5;

/** "Line 3: 2 received, 1 accepted. Base is broken" for each line that was counted. */
const receivedLines = (lines: readonly ReceivedLine[]): string[] => {
  const shown = lines.slice(0, MOST_LINES).map(({ line, received, accepted, note }) => {
    const figures = `${formatNumber(received)} received${accepted === received ? '' : `, ${formatNumber(accepted ?? received)} accepted`}`;
    return `Line ${line}: ${figures}${note ? `. ${note}` : ''}`;
  });
  return lines.length > MOST_LINES ? [...shown, `and ${lines.length - MOST_LINES} more lines`] : shown;
};

const creditLine = ({ creditAmount, computedAmount }: TimelineEntry['data']): string[] => {
  if (typeof creditAmount !== 'number') return [];
  const instead = typeof computedAmount === 'number' ? ` instead of ${formatAmount(computedAmount)}` : '';
  return [`Credit ${formatAmount(creditAmount)}${instead}`];
};

const recordedLines = (entry: TimelineEntry): string[] => {
  const { type, data } = entry;
  if (type === 'CORRECTED') return correctedLines(entry);
  if (type === 'ASSIGNED') return [`To ${textOrNull(data['assigneeName']) ?? 'no one'}`];
  if (type === 'CREDIT_REQUESTED') return creditLine(data);
  if (Array.isArray(data['lines'])) return receivedLines(data['lines'] as ReceivedLine[]);
  const tracking = textOrNull(data['trackingNumber']);
  const carrier = textOrNull(data['carrierName']);
  const technician = textOrNull(data['assignedToId']);
  const disposition = textOrNull(data['offlineDisposition']);
  const lines = [
    tracking && `Tracking ${tracking}${carrier ? ` with ${carrier}` : ''}`,
    technician && `Technician ${technician}`,
    disposition && dispositionLabel(disposition),
  ];
  return lines.filter((line) => line !== null);
};

export const ReturnTimeline = ({ entries }: { entries: readonly TimelineEntry[] }) => (
  <Timeline bulletSize={26} lineWidth={2} active={entries.length} aria-label="What happened, newest first">
    {entries.toReversed().map((entry) => {
      const { icon: Icon } = ENTRIES[entry.type];
      return (
        <Timeline.Item key={entry.id} bullet={<Icon size={14} aria-hidden />} title={<Title entry={entry} />}>
          <StatusChange entry={entry} />
          {recordedLines(entry).map((line) => (
            <Text key={line} size="sm" {...(line.endsWith(ERASED_TEXT) ? { c: 'dimmed' } : {})}>
              {line}
            </Text>
          ))}
          {noteOf(entry)}
          <Text size="xs" c="dimmed" mt={4}>
            <RelativeTime at={entry.at} />
          </Text>
        </Timeline.Item>
      );
    })}
  </Timeline>
);

/** A note has no words only where they were erased. */
const noteOf = ({ type, note }: TimelineEntry) => {
  if (note) return <Note>{note}</Note>;
  return type === 'NOTE_ADDED' ? <Hint>(erased)</Hint> : null;
};

const Title = ({ entry }: { entry: TimelineEntry }) => (
  <Text size="sm" component="span">
    <strong>
      <OrErased>{entry.actor.name}</OrErased>
    </strong>{' '}
    <Text span size="xs" c="dimmed">
      ({ACTOR_LABELS[entry.actor.type]})
    </Text>{' '}
    {actionOf(entry)}
  </Text>
);

const StatusChange = ({ entry: { fromStatus, toStatus } }: { entry: TimelineEntry }) => {
  if (toStatus === null || toStatus === fromStatus) return null;
  return (
    <Group gap={6} my={4}>
      {fromStatus === null ? null : (
        <>
          <StatusBadge status={fromStatus} size="sm" />
          <ArrowRight size={14} aria-label="to" role="img" />
        </>
      )}
      <StatusBadge status={toStatus} size="sm" />
    </Group>
  );
};

const Note = ({ children }: { children: string }) => (
  <Text
    size="sm"
    component="blockquote"
    m={0}
    mt={4}
    pl="xs"
    style={{ borderInlineStart: '3px solid var(--mantine-color-default-border)', whiteSpace: 'pre-wrap' }}
  >
    <FoldedText>{children}</FoldedText>
  </Text>
);
