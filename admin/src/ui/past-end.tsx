import { Button, EmptyState } from '@mantine/core';
import { SearchX } from 'lucide-react';

interface Props {
  /** What there is, further to the front: "26 repairs". */
  there: string;
  onFirst(): void;
}

/** A page of a list that the list does not have, or has no more. */
export const PastEnd = ({ there, onFirst }: Props) => (
  <EmptyState
    py="xl"
    icon={<SearchX size={32} aria-hidden />}
    title="This page is empty"
    description={`There are ${there}, on earlier pages.`}
  >
    <EmptyState.Actions>
      <Button variant="default" onClick={onFirst}>
        To the first page
      </Button>
    </EmptyState.Actions>
  </EmptyState>
);
