import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** A text that runs from right to left is cut at its own end, and stays at the left of its column. */
const BIDI = { unicodeBidi: 'plaintext', textAlign: 'left' } as const;

/** Two lines of a table cell, the second in a lighter colour; each is cut where it does not fit. */
export const TwoLines = ({ first, second }: { first: ReactNode; second: ReactNode }) => (
  <div>
    <Text size="sm" truncate style={BIDI} title={titleOf(first)}>
      {first}
    </Text>
    <Text size="xs" c="dimmed" truncate style={BIDI} title={titleOf(second)}>
      {second}
    </Text>
  </div>
);

/** One line of a table cell, cut where it does not fit. */
export const OneLine = ({ children }: { children: string }) => (
  <Text size="sm" truncate style={BIDI} title={children}>
    {children}
  </Text>
);

/** The whole text, for the pointer. */
const titleOf = (line: ReactNode): string | undefined => (typeof line === 'string' ? line : undefined);
