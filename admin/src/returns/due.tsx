import { Text } from '@mantine/core';
import { calendarDaysBetween } from '../ui/calendar.ts';

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
