import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Two lines of a table cell, the second in a lighter colour; each is cut where it does not fit. */
export const TwoLines = ({ first, second }: { first: ReactNode; second: ReactNode }) => (
  <div>
    <Text size="sm" lineClamp={1}>
      {first}
    </Text>
    <Text size="xs" c="dimmed" lineClamp={1}>
      {second}
    </Text>
  </div>
);
