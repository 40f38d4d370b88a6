import { EmptyState } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import type { z } from 'zod';
import type { AuditEntry, AuditLog } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { ListPager } from '../ui/list-pager.tsx';
import { PageFrame } from '../ui/page-frame.tsx';
import { PastEnd } from '../ui/past-end.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { SecondLine } from '../ui/second-line.tsx';
import { AuditDetails } from './audit-details.tsx';
import { ACTION_LABELS, ACTOR_LABELS, SUBJECT_LABELS } from './audit-labels.ts';

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
        {(list) =>
          list.items.length === 0 && list.total > 0 ? (
            <PastEnd count={`${list.total.toLocaleString()} entries`} onFirst={() => toPage(1)} />
          ) : list.items.length === 0 ? (
            <EmptyState py="xl" icon={<ScrollText aria-hidden />} title="Nothing has happened yet" />
          ) : (
            <>
              <DataTable
                caption="Entries, newest first"
                columns={COLUMNS}
                rows={list.items}
                nameOf={({ action, subject }) => `“${ACTION_LABELS[action]}”, ${subject.name}`}
                details={({ data }) => (Object.keys(data).length === 0 ? null : <AuditDetails data={data} />)}
              />
              <ListPager list={list} noun={['entry', 'entries']} onPage={toPage} />
            </>
          )
        }
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
        {subject.name}
        <SecondLine>{SUBJECT_LABELS[subject.type]}</SecondLine>
      </>
    ),
  },
  {
    header: 'Who',
    cell: ({ actor, address }) => (
      <>
        {actor.name}
        <SecondLine>{address ?? ACTOR_LABELS[actor.type]}</SecondLine>
      </>
    ),
  },
  { header: 'When', noWrap: true, cell: ({ at }) => <RelativeTime at={at} /> },
];
