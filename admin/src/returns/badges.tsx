import { Badge, type BadgeProps, Text } from '@mantine/core';
import type { Assignee as Person } from '../../../contract/admin-returns.ts';
import { calendarDaysBetween } from '../ui/relative-time.tsx';
import styles from './assignee.module.css';
import { describeStatus } from './kinds.ts';

export const StatusBadge = ({ status, ...rest }: { status: string } & BadgeProps) => {
  const { label, color } = describeStatus(status);
  return (
    <Badge variant="light" color={color} {...rest}>
      {label}
    </Badge>
  );
};

const daysText = (days: number): string => (days === 1 ? '1 day' : `${days} days`);

const DAY_MS = 86_400_000;

/** "3 days overdue", "due tomorrow": a full day late counts as one. */
const describeDue = (dueAt: string, nowMs = Date.now()): { text: string; colour: string } => {
  const lateMs = nowMs - Date.parse(dueAt);
  if (lateMs >= 0) {
    const days = Math.floor(lateMs / DAY_MS);
    return { text: days === 0 ? 'overdue since today' : `${daysText(days)} overdue`, colour: 'error' };
  }
  const days = calendarDaysBetween(nowMs, Date.parse(dueAt));
  if (days <= 1) return { text: days === 0 ? 'due today' : 'due tomorrow', colour: 'var(--due-soon)' };
  return { text: `due in ${daysText(days)}`, colour: 'dimmed' };
};

/** Until when a return should have left its status; nothing where there is no target. */
export const Due = ({ dueAt }: { dueAt: string | null }) => {
  if (!dueAt) return null;
  const { text, colour } = describeDue(dueAt);
  return (
    <Text
      size="xs"
      component="span"
      c={colour === 'error' ? 'var(--mantine-color-error)' : colour}
      fw={colour === 'dimmed' ? 400 : 600}
      style={{ whiteSpace: 'nowrap' }}
    >
      {text}
    </Text>
  );
};

const initialsOf = (name: string): string => {
  const words = name.split(/[\s._-]+/u).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  const chosen = words.length > 1 ? [words[0], words.at(-1)] : words;
  return chosen.map((word) => [...(word ?? '')][0]?.toUpperCase() ?? '').join('');
};

export const Assignee = ({ person }: { person: Person | null }) =>
  person === null ? (
    <span className={styles['unassigned']}>Unassigned</span>
  ) : (
    <span className={styles['person']} title={person.name}>
      <span className={styles['mark']} data-initials={initialsOf(person.name)} aria-hidden />
      <bdi className={styles['name']}>{person.name}</bdi>
    </span>
  );
