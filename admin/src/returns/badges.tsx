import { Hourglass } from 'lucide-react';
import type { Assignee as Person } from '../../../contract/admin-returns.ts';
import { dateFormat } from '../format.ts';
import { texts } from '../texts.ts';
import { Dot, type DotProps } from '../ui/dot.tsx';
import { wordFor } from '../ui/known-word.ts';
import { useNow } from '../ui/now.ts';
import { calendarDaysBetween, DAY_MS } from '../ui/relative-time.tsx';
import assignee from './assignee.module.css';
import styles from './badges.module.css';
import { type AnyReturn, describeStatus } from './kinds.ts';

const words = texts.returns;

type StatusProps = Omit<DotProps, 'label' | 'color' | 'isOver'> & { status: string; isPartly?: boolean };

export const StatusBadge = ({ status, isPartly = false, ...rest }: StatusProps) => {
  const { label, color, isOver = false } = describeStatus(status);
  const shown = isPartly ? words.partlyReceived : label;
  return <Dot label={shown} color={color} isOver={isOver} data-status={status} {...rest} />;
};

type Urgency = 'late' | 'soon' | 'later';

/** "3 days overdue", "due tomorrow": a full day late counts as one. */
const describeDue = (dueAt: string, nowMs: number): { text: string; urgency: Urgency } => {
  const lateMs = nowMs - Date.parse(dueAt);
  if (lateMs >= 0) {
    const days = Math.floor(lateMs / DAY_MS);
    return {
      text: days === 0 ? words.overdueToday : words.overdue(texts.common.days(days)),
      urgency: 'late',
    };
  }
  const days = calendarDaysBetween(nowMs, Date.parse(dueAt));
  if (days <= 1) return { text: days === 0 ? words.dueToday : words.dueTomorrow, urgency: 'soon' };
  return { text: words.dueIn(texts.common.days(days)), urgency: 'later' };
};

/** Until when a return should have left its status; nothing where there is no target. Only what is late is a filled chip. */
export const Due = ({ dueAt }: { dueAt: string | null }) => {
  const now = useNow();
  if (!dueAt) return null;
  const { text, urgency } = describeDue(dueAt, now);
  return (
    <span className={styles['due']} data-urgency={urgency}>
      {text}
    </span>
  );
};

const day = dateFormat({ weekday: 'short', day: 'numeric', month: 'short' });

/** When a return is due, or what it waits for: its clock stands still then. */
export const DueCell = ({ dueAt, waitingFor }: Pick<AnyReturn, 'dueAt' | 'waitingFor'>) => {
  if (!waitingFor) return <Due dueAt={dueAt} />;
  const text = wordFor(texts.list.waitingFor, waitingFor.what);
  return (
    <span
      className={styles['waiting']}
      title={waitingFor.until ? texts.list.until(text, day.format(new Date(waitingFor.until))) : text}
    >
      <Hourglass size={13} />
      {text}
    </span>
  );
};

const initialsOf = (name: string): string => {
  const words = name.split(/[\s._-]+/u).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  const chosen = words.length > 1 ? [words[0], words.at(-1)] : words;
  return chosen.map((word) => [...(word ?? '')][0]?.toUpperCase() ?? '').join('');
};

export const Assignee = ({ person }: { person: Person | null }) =>
  person === null ? (
    <span className={assignee['unassigned']}>{words.unassigned}</span>
  ) : (
    <span className={assignee['person']} title={person.name}>
      <span className={assignee['mark']} data-initials={initialsOf(person.name)} aria-hidden />
      <bdi className={assignee['name']}>{person.name}</bdi>
    </span>
  );
