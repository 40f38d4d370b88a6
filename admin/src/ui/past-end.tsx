import { Button, EmptyState } from '@mantine/core';
import { SearchX } from 'lucide-react';

interface Props {
  /** What the list holds: "26 repairs". */
  count: string;
  onFirst(): void;
}

/** Shown where a page number is beyond the end of its list. */
export const PastEnd = ({ count, onFirst }: Props) => (
  <EmptyState
    py="xl"
    icon={<SearchX size={32} aria-hidden />}
    title="This page is empty"
    description={`There are ${count}, on earlier pages.`}
  >
    <EmptyState.Actions>
      <Button variant="default" onClick={onFirst}>
        To the first page
      </Button>
    </EmptyState.Actions>
  </EmptyState>
);
