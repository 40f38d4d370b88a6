import { Group } from '@mantine/core';
import { ArrowLeft } from 'lucide-react';
import { TextLink } from '../ui/links.tsx';
import type { Kind } from './kinds.ts';
import { lastSearch } from './last-search.ts';

/** A link to the list, with its last page and filters. */
export const BackToList = ({ kind }: { kind: Kind }) => (
  <TextLink to={kind.path} search={lastSearch(kind)} size="sm" w="fit-content">
    <Group component="span" gap={4}>
      <ArrowLeft size={14} aria-hidden />
      {kind.title}
    </Group>
  </TextLink>
);
