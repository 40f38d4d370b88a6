import { Group, Progress, Stack, Text } from '@mantine/core';
import type { Overview } from '../../../contract/admin.ts';
import { describeStatus } from '../returns/labels.ts';
import { TextLink } from '../ui/links.tsx';
import { Section } from './section.tsx';

interface StatusCounts {
  byStatus: { status: string; count: number }[];
  open: number;
  openByAge: Overview['offlineRepairs']['openByAge'];
}

/** A bar in the light grey of closed returns would be hard to see. */
const barColour = (status: string): string => {
  const { color } = describeStatus(status);
  return color === 'gray' ? 'gray.6' : color;
};

interface Props {
  title: string;
  counts: StatusCounts;
  to: '/offline-repairs' | '/trade-returns';
}

export const ByStatus = ({ title, counts, to }: Props) => {
  const most = Math.max(1, ...counts.byStatus.map(({ count }) => count));
  return (
    <Section title={title}>
      <Stack gap={6}>
        {counts.byStatus.map(({ status, count }) => (
          <Group key={status} gap="sm" wrap="nowrap">
            <TextLink to={to} search={{ status }} size="sm" w={170}>
              {describeStatus(status).label}
            </TextLink>
            <Progress
              flex={1}
              value={(count / most) * 100}
              color={barColour(status)}
              aria-label={`${describeStatus(status).label}: ${count}`}
            />
            <Text size="sm" w={48} ta="right" className="tabular-numbers">
              {count.toLocaleString()}
            </Text>
          </Group>
        ))}
      </Stack>
      <Text size="sm" c="dimmed" mt="sm">
        {counts.open === 0 ? 'Nothing is open.' : `Open for ${agesText(counts.openByAge)}.`}{' '}
        <TextLink to={to} search={{ order: 'asc' }} inherit underline="always">
          Oldest first
        </TextLink>
      </Text>
    </Section>
  );
};

/** "a day or less: 1, up to 3 days: 4, longer: 2" */
const agesText = (steps: StatusCounts['openByAge']): string =>
  steps
    .filter(({ count }) => count > 0)
    .map(({ upToDays, count }) => `${ageText(upToDays)}: ${count.toLocaleString()}`)
    .join(', ');
const ageText = (upToDays: number | null): string => {
  if (upToDays === null) return 'longer';
  return upToDays === 1 ? 'a day or less' : `up to ${upToDays} days`;
};
