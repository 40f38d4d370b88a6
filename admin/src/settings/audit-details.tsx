import { Code, DataList, Group } from '@mantine/core';
import { ArrowRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { z } from 'zod';
import type { AuditEntry } from '../../../contract/admin-people.ts';
import { FIELD_LABELS, VALUE_LABELS } from './audit-labels.ts';

const Change = z.strictObject({ from: z.unknown(), to: z.unknown() });

const formatValue = (field: string, value: unknown): ReactNode => {
  const label = VALUE_LABELS[`${field} ${String(value)}`];
  if (label) return label;
  if (value === null) return 'None';
  if (typeof value === 'number') return value.toLocaleString('en');
  if (typeof value === 'string') return value;
  if (Array.isArray(value))
    return (
      <Group gap={6}>
        {value.map((one) => (
          <Code key={String(one)}>{String(one)}</Code>
        ))}
      </Group>
    );
  return <Code block>{JSON.stringify(value, null, 2)}</Code>;
};

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

export const AuditDetails = ({ data }: Pick<AuditEntry, 'data'>) => (
  <DataList labelWidth="9rem" pb="xs">
    {Object.entries(data)
      .filter(([, value]) => !isEmptyList(value))
      .map(([field, value]) => {
        const change = Change.safeParse(value).data;
        return (
          <DataList.Item key={field}>
            <DataList.ItemLabel>{FIELD_LABELS[field] ?? field}</DataList.ItemLabel>
            <DataList.ItemValue>
              {change ? (
                <Group gap={6} component="span">
                  {formatValue(field, change.from)}
                  <ArrowRight size={14} aria-label="to" role="img" />
                  {formatValue(field, change.to)}
                </Group>
              ) : (
                formatValue(field, value)
              )}
            </DataList.ItemValue>
          </DataList.Item>
        );
      })}
  </DataList>
);
