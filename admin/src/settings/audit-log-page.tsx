import { Code, DataList, Group, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { z } from 'zod';
import type { AuditEntry, AuditLog } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { formatNumber } from '../format.ts';
import { texts } from '../texts.ts';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { PagedList } from '../ui/list-pager.tsx';
import { PageFrame } from '../ui/page-frame.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { formatEnd, RelativeTime } from '../ui/relative-time.tsx';
import { Dimmed, OrErased } from '../ui/two-lines.tsx';
import { actorName, FIELD_LABELS, sentenceOf, VALUE_LABELS } from './labels.ts';

const t = texts.settings;

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
    <PageFrame title={t.audit} intro={t.auditIntro}>
      <QueryView query={log}>
        {(list) => (
          <PagedList
            list={list}
            noun={t.auditNouns}
            onPage={toPage}
            empty={<EmptyState title={t.auditEmpty} />}
          >
            <DataTable
              caption={t.auditCaption}
              columns={COLUMNS}
              rows={list.items}
              nameOf={(entry) => t.auditDetailsOf(`${actorName(entry)} ${sentenceOf(entry)}`)}
              details={({ data }) => (Object.keys(data).length === 0 ? null : <AuditDetails data={data} />)}
            />
          </PagedList>
        )}
      </QueryView>
    </PageFrame>
  );
};

const COLUMNS: [Column<AuditEntry>, ...Column<AuditEntry>[]] = [
  {
    header: t.auditWhat,
    cell: (entry) => (
      <>
        <OrErased>{actorName(entry)}</OrErased>{' '}
        <Text span inherit fw={400}>
          {sentenceOf(entry)}
        </Text>
      </>
    ),
    width: '60%',
  },
  {
    header: t.auditAddress,
    noWrap: true,
    cell: ({ address }) => address ?? <Dimmed>{t.auditNoAddress}</Dimmed>,
  },
  { header: t.auditWhen, noWrap: true, cell: ({ at }) => <RelativeTime at={at} /> },
];

const Change = z.strictObject({ from: z.unknown(), to: z.unknown() });

/** Fields with several values, separated by commas. */
const LISTS = ['rights', 'events'];
/** Fields with the end of a key. */
const ENDS = ['expiresAt', 'oldKeyUntil'];

const formatValue = (field: string, value: unknown): ReactNode => {
  const label = VALUE_LABELS[`${field} ${String(value)}`];
  if (label) return label;
  if (value === null) return t.auditNone;
  if (typeof value === 'number') return formatNumber(value);
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
                  <ArrowRight size={14} aria-label={t.auditTo} role="img" />
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
