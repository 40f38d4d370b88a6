import { EmptyState } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import type { z } from 'zod';
import type { AuditEntry, AuditLog } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { Aside } from '../ui/aside.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { ListPager } from '../ui/list-pager.tsx';
import { Moment } from '../ui/moment.tsx';
import { SettingsPage } from '../ui/page-frame.tsx';
import { PastEnd } from '../ui/past-end.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { ACTION_WORDS, ACTOR_WORDS, AuditDetails, SUBJECT_WORDS } from './audit-words.tsx';

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
    <SettingsPage
      title="Audit log"
      lead="Every change of an API client, a person, the rules or the plan: who made it, and what it was."
    >
      <QueryView query={log}>
        {(list) =>
          list.items.length === 0 && list.total > 0 ? (
            <PastEnd there={`${list.total.toLocaleString()} changes`} onFirst={() => toPage(1)} />
          ) : list.items.length === 0 ? (
            <EmptyState py="xl" icon={<ScrollText aria-hidden />} title="Nothing has been changed yet" />
          ) : (
            <>
              <DataTable
                caption="Changes, newest first"
                columns={COLUMNS}
                rows={list.items}
                nameOf={({ action, subject }) => `“${ACTION_WORDS[action]}”, ${subject.name}`}
                details={({ data }) => (Object.keys(data).length === 0 ? null : <AuditDetails data={data} />)}
              />
              <ListPager list={list} things={['change', 'changes']} onPage={toPage} />
            </>
          )
        }
      </QueryView>
    </SettingsPage>
  );
};

const COLUMNS: [Column<AuditEntry>, ...Column<AuditEntry>[]] = [
  { head: 'What', cell: ({ action }) => ACTION_WORDS[action], width: '28%' },
  {
    head: 'About',
    cell: ({ subject }) => (
      <>
        {subject.name}
        <Aside>{SUBJECT_WORDS[subject.type]}</Aside>
      </>
    ),
  },
  {
    head: 'Who',
    cell: ({ actor }) => (
      <>
        {actor.name}
        <Aside>{ACTOR_WORDS[actor.type]}</Aside>
      </>
    ),
  },
  { head: 'When', firm: true, cell: ({ at }) => <Moment at={at} /> },
];
