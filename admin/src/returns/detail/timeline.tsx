import {
  ArrowRight,
  CircleCheck,
  Eraser,
  FilePlus,
  Hourglass,
  type LucideIcon,
  MessageSquare,
  PackageCheck,
  PencilLine,
  ReceiptText,
  Truck,
  UserRound,
} from 'lucide-react';
import type { ReactNode } from 'react';
import type { TimelineEntry } from '../../../../contract/common.ts';
import { ERASED_TEXT, type TimelineType } from '../../../../contract/lifecycle.ts';
import type { ReceivedLine } from '../../../../contract/trade-return.ts';
import { formatNumber } from '../../format.ts';
import { texts } from '../../texts.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { isErased, OrErased } from '../../ui/two-lines.tsx';
import { StatusBadge } from '../badges.tsx';
import { CORRECTED_LABELS, describeStatus, dispositionLabel } from '../kinds.ts';
import { untilText, whatName } from '../moves/waiting-line.tsx';
import { useMoney } from '../numbers.ts';
import styles from './detail.module.css';
import { FoldedText } from './facts.tsx';

const words = texts.detail.story;

const ICONS: Record<TimelineType, LucideIcon> = {
  CREATED: FilePlus,
  TRACKING_UPLOADED: Truck,
  STATUS_CHANGED: ArrowRight,
  DISPOSITION_SET: PackageCheck,
  CLOSED: CircleCheck,
  CREDIT_REQUESTED: ReceiptText,
  RESOLVED: CircleCheck,
  ITEMS_RECEIVED: PackageCheck,
  NOTE_ADDED: MessageSquare,
  CORRECTED: PencilLine,
  ASSIGNED: UserRound,
  WAITING_SET: Hourglass,
  WAITING_CLEARED: Hourglass,
  ERASED: Eraser,
};

const textOrNull = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

/** What was done, as the end of a sentence that begins with a name. */
const actionOf = ({ type, fromStatus, toStatus, data }: TimelineEntry): ReactNode => {
  const isRepeated = toStatus !== null && toStatus === fromStatus;
  if (isRepeated && (type === 'STATUS_CHANGED' || type === 'CLOSED'))
    return words.repeated(describeStatus(toStatus).label);
  if (type === 'STATUS_CHANGED' && toStatus !== null)
    return (
      <>
        {words.changedStatus} <StatusBadge status={toStatus} ml={2} />
      </>
    );
  if (type === 'ASSIGNED') {
    const person = textOrNull(data['assigneeName']);
    return person === null ? words.unassigned : words.assigned(person);
  }
  if (type === 'WAITING_SET')
    return words.waiting(whatName(String(data['what'])), untilText(textOrNull(data['until'])));
  return words.entries[type] ?? words.otherEntry(type);
};

/** "Phone: 555 (was: none)" for each field that was corrected. */
const correctedLines = ({ data }: TimelineEntry): string[] =>
  Object.entries(data).map(([field, change]) => {
    const { from, to } = (change ?? {}) as { from?: unknown; to?: unknown };
    const label = CORRECTED_LABELS[field as keyof typeof CORRECTED_LABELS] ?? field;
    if (isErased(textOrNull(to)) || isErased(textOrNull(from))) return `${label}: ${ERASED_TEXT}`;
    return words.corrected(label, textOrNull(to), textOrNull(from));
  });

const MOST_LINES = 5;

/** "Line 3: 2 received, 1 accepted. Base is broken" for each line that was counted. */
const receivedLines = (lines: readonly ReceivedLine[]): string[] => {
  const shown = lines.slice(0, MOST_LINES).map(({ line, received, accepted, note }) => {
    const isAll = accepted === undefined || accepted === null || accepted === received;
    return words.line(line, formatNumber(received), isAll ? null : formatNumber(accepted), note ?? null);
  });
  return lines.length > MOST_LINES ? [...shown, words.moreLines(lines.length - MOST_LINES)] : shown;
};

type Money = (value: number) => string;

const creditLine = ({ creditAmount, computedAmount }: TimelineEntry['data'], money: Money): string[] => {
  if (typeof creditAmount !== 'number') return [];
  return [
    words.credit(money(creditAmount), typeof computedAmount === 'number' ? money(computedAmount) : null),
  ];
};

const recordedLines = (entry: TimelineEntry, money: Money): string[] => {
  const { type, data } = entry;
  if (type === 'CORRECTED') return correctedLines(entry);
  if (type === 'CREDIT_REQUESTED' || type === 'RESOLVED') return creditLine(data, money);
  if (Array.isArray(data['lines'])) return receivedLines(data['lines'] as ReceivedLine[]);
  const tracking = textOrNull(data['trackingNumber']);
  const technician = textOrNull(data['assignedToId']);
  const disposition = textOrNull(data['offlineDisposition']);
  const lines = [
    tracking && words.tracking(tracking, textOrNull(data['carrierName'])),
    technician && words.technician(technician),
    disposition && dispositionLabel(disposition),
  ];
  return lines.filter((line) => line !== null);
};

export const ReturnTimeline = ({ entries }: { entries: readonly TimelineEntry[] }) => {
  const money = useMoney();
  return (
    <ol className={styles['story']} aria-label={words.label}>
      {entries.toReversed().map((entry) => {
        const Icon = ICONS[entry.type] ?? ArrowRight;
        return (
          <li key={entry.id}>
            <Icon size={14} className={styles['bullet'] ?? ''} />
            <div className={styles['entry']}>
              <Title entry={entry} />
              {recordedLines(entry, money).map((line) => (
                <div key={line} className={line.endsWith(ERASED_TEXT) ? styles['quiet'] : undefined}>
                  {line}
                </div>
              ))}
              {noteOf(entry)}
            </div>
          </li>
        );
      })}
    </ol>
  );
};

/** A note has no words only where they were erased. */
const noteOf = ({ type, note: own, data }: TimelineEntry) => {
  // That of waiting is in the data, since API clients do not see it.
  const note = type === 'WAITING_SET' ? textOrNull(data['note']) : own;
  if (note)
    return (
      <blockquote className={styles['note']}>
        <FoldedText>{note}</FoldedText>
      </blockquote>
    );
  return type === 'NOTE_ADDED' ? <div className={styles['quiet']}>{words.erased}</div> : null;
};

const Title = ({ entry: { actor, ...entry } }: { entry: TimelineEntry }) => (
  <div>
    <strong>
      <OrErased>{actor.name}</OrErased>
    </strong>{' '}
    {actor.type === 'API_CLIENT' ? <span className={styles['quiet']}>({words.apiClient}) </span> : null}
    {actionOf({ actor, ...entry })}{' '}
    <span className={styles['when']}>
      <RelativeTime at={entry.at} />
    </span>
  </div>
);
