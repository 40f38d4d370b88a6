import { Code, DataList, EmptyState, Group } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ArrowRight, ScrollText } from 'lucide-react';
import type { ReactNode } from 'react';
import { z } from 'zod';
import type { AuditEntry, AuditLog } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { PagedList } from '../ui/list-pager.tsx';
import { PageFrame } from '../ui/page-frame.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { formatEnd, RelativeTime } from '../ui/relative-time.tsx';
import { OrErased, SecondLine } from '../ui/two-lines.tsx';
import { ACTION_LABELS, ACTOR_LABELS, FIELD_LABELS, SUBJECT_LABELS, VALUE_LABELS } from './labels.ts';

const route = getRouteApi('/inside/settings/audit-log');

export const AuditLogPage = () => {
  const { page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const toPage = (next: number) => void navigate({ search: next > 1 ? { page: next } : {} });
  const log = useQuery({
    queryKey: ['audit-log', { page }],
    queryFn: () => api.get<z.infer<typeof AuditLog>>('/audit-log', { page }),
    placeholderData: keepPreviousData,
  });
  return (
    <PageFrame
      title="Audit log"
      intro="Every change of an API client, a person, the rules or the plan, and every sign-in, link, export and backup: who, what, when, and from which address."
    >
      <QueryView query={log}>
        {(list) => (
          <PagedList
            list={list}
            noun={['entry', 'entries']}
            onPage={toPage}
            empty={<EmptyState py="xl" icon={<ScrollText aria-hidden />} title="Nothing has happened yet" />}
          >
            <DataTable
              caption="Entries, newest first"
              columns={COLUMNS}
              rows={list.items}
              nameOf={({ action, subject }) => `“${ACTION_LABELS[action]}”, ${subject.name}`}
              details={({ data }) => (Object.keys(data).length === 0 ? null : <AuditDetails data={data} />)}
            />
          </PagedList>
        )}
      </QueryView>
    </PageFrame>
  );
};

const COLUMNS: [Column<AuditEntry>, ...Column<AuditEntry>[]] = [
  { header: 'What', cell: ({ action }) => ACTION_LABELS[action], width: '28%' },
  {
    header: 'About',
    cell: ({ subject }) => (
      <>
        <OrErased>{subject.name}</OrErased>
        <SecondLine>{SUBJECT_LABELS[subject.type]}</SecondLine>
      </>
    ),
  },
  {
    header: 'Who',
    cell: ({ actor, address }) => (
      <>
        <OrErased>{actor.name}</OrErased>
        <SecondLine>{address ?? ACTOR_LABELS[actor.type]}</SecondLine>
      </>
    ),
  },
  { header: 'When', noWrap: true, cell: ({ at }) => <RelativeTime at={at} /> },
];

const Change = z.strictObject({ from: z.unknown(), to: z.unknown() });

/** Fields with several values, separated by commas. */
const LISTS = ['rights', 'events'];
/** Fields with the end of a key. */
const ENDS = ['expiresAt', 'oldKeyUntil'];

const formatValue = (field: string, value: unknown): ReactNode => {
  const label = VALUE_LABELS[`${field} ${String(value)}`];
  if (label) return label;
  if (value === null) return 'None';
  if (typeof value === 'number') return value.toLocaleString('en');
  if (typeof value === 'string' && LISTS.includes(field)) return formatValue(field, value.split(','));
  if (typeof value === 'string') return ENDS.includes(field) ? formatEnd(value) : value;
  if (Array.isArray(value))
    return (
      <Group gap={6}>
        {value.map((one) => (
          <Code key={String(one)}>{VALUE_LABELS[`${field} ${one}`] ?? String(one)}</Code>
        ))}
      </Group>
    );
  return <Code block>{JSON.stringify(value, null, 2)}</Code>;
};

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

const AuditDetails = ({ data }: Pick<AuditEntry, 'data'>) => (
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
