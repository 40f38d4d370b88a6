import { Card, Title } from '@mantine/core';
import type { ReactNode } from 'react';

export const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <Card withBorder>
    <Title order={3} size="h5" mb="sm">
      {title}
    </Title>
    {children}
  </Card>
);
