import { Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { overviewQuery } from '../../overview-query.ts';
import type { Kind } from '../kinds.ts';
import { describeStatus } from '../labels.ts';

interface Props {
  kind: Kind;
  statuses: readonly string[];
  /** Undefined for every status. */
  status: string | undefined;
  /** The counts are those of the whole shop, so they would mislead beside other filters. */
  showCounts: boolean;
  onStatus(status: string | undefined): void;
}

/** A button for each status, with the number of returns. */
export const StatusFilter = ({ kind, statuses, status, showCounts, onStatus }: Props) => {
  const { data } = useQuery(overviewQuery);
  const counts = new Map<string, number>(
    data?.[kind.overview].byStatus.map((each) => [each.status, each.count]),
  );
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const button = (value: string | undefined, label: string, count: number | undefined) => (
    <Button
      key={label}
      size="compact-sm"
      variant={value === status ? 'light' : 'default'}
      aria-pressed={value === status}
      fw={value === status ? 600 : 400}
      onClick={() => onStatus(value)}
    >
      {label}
      {showCounts && count !== undefined ? (
        <Text span size="xs" ml={6} className="tabular-numbers" inherit>
          {count.toLocaleString()}
        </Text>
      ) : null}
    </Button>
  );
  return (
    <Group gap={6} role="group" aria-label="Status">
      {button(undefined, 'All', data ? total : undefined)}
      {statuses.map((each) => button(each, describeStatus(each).label, counts.get(each)))}
    </Group>
  );
};
