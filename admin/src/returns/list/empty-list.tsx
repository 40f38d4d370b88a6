import { Button, EmptyState, Paper } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { CircleCheckBig, type LucideIcon, PackageOpen, SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ListSearch } from '../../list-search.ts';
import { overviewQuery } from '../../shop-queries.ts';
import { PastEnd } from '../../ui/list-pager.tsx';
import { countOf, type Kind } from '../kinds.ts';
import { NewReturnLink } from '../links.tsx';
import { isFiltered } from '../queries.ts';
import { orderInSearch, orderOf } from './list-order.ts';

interface Props {
  kind: Kind;
  search: ListSearch;
  total: number;
  onSearch(search: ListSearch): void;
}

export const EmptyList = ({ kind, search, total, onSearch }: Props) => {
  const { data } = useQuery(overviewQuery);
  const hasAny = data?.[kind.overview].byStatus.some(({ count }) => count > 0) ?? false;
  if (total > 0)
    return (
      <Paper withBorder>
        <PastEnd count={countOf(total, kind)} onFirst={() => onSearch({ ...search, page: undefined })} />
      </Paper>
    );
  if (isFiltered(kind, search))
    return (
      <Empty
        icon={SearchX}
        title={`No ${kind.many} like that`}
        description="Every word must be found in number, order, reference, customer, phone, SKU, serial or tracking number, and all filters count together."
      >
        {search.q && search.open === undefined ? (
          <Button onClick={() => onSearch({ q: search.q, open: 'all' })}>Search all {kind.many}</Button>
        ) : null}
        <Button variant="default" onClick={() => onSearch(orderInSearch(orderOf(search)))}>
          Clear all filters
        </Button>
      </Empty>
    );
  if (search.open === undefined && hasAny)
    return (
      <Empty
        icon={CircleCheckBig}
        title={`No open ${kind.many}`}
        description="Everything has come to its end."
      >
        <Button variant="default" onClick={() => onSearch({ open: 'all', order: 'desc' })}>
          Show all {kind.many}
        </Button>
      </Empty>
    );
  return (
    <Empty
      icon={PackageOpen}
      title={`No ${kind.many} yet`}
      description="What your programs and your staff create appears here."
    >
      <NewReturnLink kind={kind} label="Create the first" />
    </Empty>
  );
};

interface EmptyProps {
  icon: LucideIcon;
  title: string;
  description: string;
  children: ReactNode;
}

const Empty = ({ icon: Icon, title, description, children }: EmptyProps) => (
  <Paper withBorder p="xl">
    <EmptyState icon={<Icon size={32} aria-hidden />} title={title} description={description}>
      <EmptyState.Actions>{children}</EmptyState.Actions>
    </EmptyState>
  </Paper>
);
