import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** The name of something and, quieter, what tells it from others. */
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
