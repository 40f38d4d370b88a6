import { Card, DataList, Title } from '@mantine/core';
import type { ReactNode } from 'react';

type Fact = readonly [label: string, value: ReactNode];

interface Props {
  title: string;
  facts: readonly Fact[];
  /** Shown below the facts. */
  children?: ReactNode;
}

/** A card with a title and facts; empty facts are left out. */
export const Facts = ({ title, facts, children }: Props) => {
  const filled = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
  if (filled.length === 0 && !children) return null;
  return (
    <Card withBorder padding="md">
      <Title order={3} size="h5" mb="xs">
        {title}
      </Title>
      {filled.length > 0 ? (
        <DataList gap={6} labelWidth="8.5em">
          {filled.map(([label, value]) => (
            <DataList.Item key={label}>
              <DataList.ItemLabel>{label}</DataList.ItemLabel>
              <DataList.ItemValue style={{ whiteSpace: 'pre-wrap', minWidth: 0 }}>{value}</DataList.ItemValue>
            </DataList.Item>
          ))}
        </DataList>
      ) : null}
      {children}
    </Card>
  );
};
