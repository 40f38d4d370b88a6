import { Button, EmptyState, Paper } from '@mantine/core';
import { PackageOpen, SearchX } from 'lucide-react';
import type { ListSearch } from '../../list-search.ts';
import { PastEnd } from '../../ui/past-end.tsx';
import { countOf, type Kind } from '../kinds.ts';
import { isFiltered } from '../queries.ts';
import { orderInSearch, orderOf } from './list-order.ts';
import { NewReturnLink } from './new-return-link.tsx';

interface Props {
  kind: Kind;
  search: ListSearch;
  total: number;
  onSearch(search: ListSearch): void;
}

/** Says why a list is empty, and what people can do about it. */
export const EmptyList = ({ kind, search, total, onSearch }: Props) => {
  if (total > 0)
    return (
      <Paper withBorder>
        <PastEnd count={countOf(total, kind)} onFirst={() => onSearch({ ...search, page: undefined })} />
      </Paper>
    );
  return (
    <Paper withBorder p="xl">
      {isFiltered(kind, search) ? (
        <EmptyState
          icon={<SearchX size={32} aria-hidden />}
          title={`No ${kind.many} like that`}
          description="Every word must be found in number, order, customer, sku or serial, and all filters count together."
        >
          <EmptyState.Actions>
            <Button variant="default" onClick={() => onSearch(orderInSearch(orderOf(search)))}>
              Clear all filters
            </Button>
          </EmptyState.Actions>
        </EmptyState>
      ) : (
        <EmptyState
          icon={<PackageOpen size={32} aria-hidden />}
          title={`No ${kind.many} yet`}
          description={`What your programs and your staff create appears here.`}
        >
          <EmptyState.Actions>
            <NewReturnLink kind={kind} label="Create the first" />
          </EmptyState.Actions>
        </EmptyState>
      )}
    </Paper>
  );
};
