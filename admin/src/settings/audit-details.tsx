import { Code, DataList, Group } from '@mantine/core';
import { ArrowRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { z } from 'zod';
import type { AuditEntry } from '../../../contract/admin-people.ts';
import { ROLE_LABELS } from '../session/roles.ts';
import { PLAN_NAMES } from './plan-names.ts';

// The audit log in words.

export const ACTION_LABELS: Record<AuditEntry['action'], string> = {
  SHOP_CREATED: 'Created the shop',
  SHOP_CHANGED: 'Changed plan or billing',
  DANGEROUS_GOODS_CHANGED: 'Changed the dangerous-goods rules',
  CLIENT_CREATED: 'Created an API client',
  CLIENT_CHANGED: 'Changed an API client',
  CLIENT_REVOKED: 'Revoked an API client',
  USER_CREATED: 'Added a person',
  USER_CHANGED: 'Changed a person',
  USER_REMOVED: 'Removed a person',
};

export const ACTOR_LABELS: Record<AuditEntry['actor']['type'], string> = {
  USER: 'Team',
  API_CLIENT: 'API client',
  SYSTEM: 'Service',
};

export const SUBJECT_LABELS: Record<AuditEntry['subject']['type'], string> = {
  SHOP: 'Shop',
  CLIENT: 'API client',
  USER: 'Person',
};

/** What is not here is shown by its own name. */
const FIELD_LABELS: Record<string, string> = {
  name: 'Name',
  webhookUrl: 'Webhook URL',
  email: 'E-mail',
  role: 'Role',
  passwordChanged: 'New password',
  plan: 'Plan',
  subscription: 'Subscription',
  billing: 'Billing',
  limit: 'Monthly limit',
  added: 'Added',
  removed: 'Removed',
};

const Change = z.strictObject({ from: z.unknown(), to: z.unknown() });

/** Words of the contract as the other pages say them. */
const VALUE_LABELS: Record<string, string> = {
  ...Object.fromEntries(Object.entries(ROLE_LABELS).map(([role, { name }]) => [`role ${role}`, name])),
  ...Object.fromEntries(Object.entries(PLAN_NAMES).map(([plan, name]) => [`plan ${plan}`, name])),
  'billing ALLOWANCE': 'By plan',
  'billing USAGE': 'By use',
  'passwordChanged true': 'Set',
};

const valueWords = (field: string, value: unknown): ReactNode => {
  const words = VALUE_LABELS[`${field} ${String(value)}`];
  if (words) return words;
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

const isNothing = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

export const AuditDetails = ({ data }: Pick<AuditEntry, 'data'>) => (
  <DataList labelWidth="9rem" pb="xs">
    {Object.entries(data)
      .filter(([, value]) => !isNothing(value))
      .map(([field, value]) => {
        const change = Change.safeParse(value).data;
        return (
          <DataList.Item key={field}>
            <DataList.ItemLabel>{FIELD_LABELS[field] ?? field}</DataList.ItemLabel>
            <DataList.ItemValue>
              {change ? (
                <Group gap={6} component="span">
                  {valueWords(field, change.from)}
                  <ArrowRight size={14} aria-label="to" role="img" />
                  {valueWords(field, change.to)}
                </Group>
              ) : (
                valueWords(field, value)
              )}
            </DataList.ItemValue>
          </DataList.Item>
        );
      })}
  </DataList>
);
