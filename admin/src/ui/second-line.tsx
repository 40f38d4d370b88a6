import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** A line in a lighter colour below another. */
export const SecondLine = ({ children }: { children: ReactNode }) => (
  <Text size="sm" c="dimmed" component="span" display="block" fw={400}>
    {children}
  </Text>
);
