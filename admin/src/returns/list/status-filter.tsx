import { Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { overviewQuery } from '../../overview-query.ts';
import type { Kind } from '../kinds.ts';
import { describeStatus } from '../labels.ts';

interface Props {
  kind: Kind;
  statuses: readonly string[];
  /** None: every status. */
  status: string | undefined;
  /** The counts are the whole shop's: beside other filters they would mislead. */
  isCounted: boolean;
  onStatus(status: string | undefined): void;
}

/** The statuses to choose from, with how many there are of each. */
export const StatusFilter = ({ kind, statuses, status, isCounted, onStatus }: Props) => {
  const { data } = useQuery(overviewQuery);
  const counts = new Map<string, number>(
    data?.[kind.overview].byStatus.map((each) => [each.status, each.count]),
  );
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const choice = (value: string | undefined, label: string, count: number | undefined) => (
    <Button
      key={label}
      size="compact-sm"
      variant={value === status ? 'light' : 'default'}
      aria-pressed={value === status}
      fw={value === status ? 600 : 400}
      onClick={() => onStatus(value)}
    >
      {label}
      {isCounted && count !== undefined ? (
        <Text span size="xs" ml={6} className="tabular-numbers" inherit>
          {count.toLocaleString()}
        </Text>
      ) : null}
    </Button>
  );
  return (
    <Group gap={6} role="group" aria-label="Status">
      {choice(undefined, 'All', data ? all : undefined)}
      {statuses.map((each) => choice(each, describeStatus(each).label, counts.get(each)))}
    </Group>
  );
};
