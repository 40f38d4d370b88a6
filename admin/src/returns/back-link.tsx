import { Anchor, type AnchorProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import type { ComponentPropsWithRef } from 'react';
import type { Kind } from './kinds.ts';
import { lastSearch } from './last-search.ts';

/** A link to where one came from. */
export const BackLink = createLink(
  ({ children, ...props }: AnchorProps & Omit<ComponentPropsWithRef<'a'>, keyof AnchorProps>) => (
    <Anchor size="sm" w="fit-content" {...props}>
      <ArrowLeft size={14} aria-hidden style={{ marginInlineEnd: 4, verticalAlign: '-2px' }} />
      {children}
    </Anchor>
  ),
);

/** A link to the list, with its last page and filters. */
export const BackToList = ({ kind }: { kind: Kind }) => (
  <BackLink to={kind.path} search={lastSearch(kind)}>
    {kind.title}
  </BackLink>
);
