import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Two lines of a table cell, the second in a lighter colour; each is cut where it does not fit. */
export const TwoLines = ({ first, second }: { first: ReactNode; second: ReactNode }) => (
  <div>
    <Text size="sm" truncate title={titleOf(first)}>
      {first}
    </Text>
    <Text size="xs" c="dimmed" truncate title={titleOf(second)}>
      {second}
    </Text>
  </div>
);

/** One line of a table cell, cut where it does not fit. */
export const OneLine = ({ children }: { children: string }) => (
  <Text size="sm" truncate title={children}>
    {children}
  </Text>
);

/** The whole text, for the pointer. */
const titleOf = (line: ReactNode): string | undefined => (typeof line === 'string' ? line : undefined);
