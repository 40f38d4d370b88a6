import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { overviewQuery } from '../../shop-queries.ts';
import { texts } from '../../texts.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { PastEnd } from '../../ui/list-pager.tsx';
import { countOf } from '../kinds.ts';
import { isFiltered, type ListProps } from '../queries.ts';
import { orderInSearch, orderOf } from './list-order.ts';

export const EmptyList = ({ kind, search, total, onSearch }: ListProps & { total: number }) => {
  const { data } = useQuery(overviewQuery);
  const hasAny = data?.[kind.overview].byStatus.some(({ count }) => count > 0) ?? false;
  if (total > 0)
    return <PastEnd count={countOf(total, kind)} onFirst={() => onSearch({ ...search, page: undefined })} />;
  if (isFiltered(kind, search))
    return (
      <EmptyState title={texts.list.noMatches} description={texts.list.tryFewer}>
        {search.q && search.open === undefined ? (
          <Button onClick={() => onSearch({ q: search.q, open: 'all' })}>
            {texts.list.searchAll(kind.many)}
          </Button>
        ) : null}
        <Button variant="default" onClick={() => onSearch(orderInSearch(orderOf(search)))}>
          {texts.list.clearAll}
        </Button>
      </EmptyState>
    );
  if (search.open === undefined && hasAny)
    return (
      <EmptyState title={texts.list.noOpen(kind.many)} description={texts.list.caughtUp}>
        <Button variant="default" onClick={() => onSearch({ open: 'all', order: 'desc' })}>
          {texts.list.showAll(kind.many)}
        </Button>
      </EmptyState>
    );
  return <EmptyState title={texts.list.noneYet(kind.many)} description={texts.list.noneYetHelp} />;
};
