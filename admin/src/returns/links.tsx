import { Anchor, type AnchorProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import { ArrowLeft, Plus } from 'lucide-react';
import type { ComponentPropsWithRef } from 'react';
import { BlockableButton, useBlocked } from '../session/blocked.tsx';
import { ButtonLink } from '../ui/links.tsx';
import type { Kind } from './kinds.ts';
import { lastSearch } from './remembered.ts';

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

const icon = <Plus size={16} aria-hidden />;

/** Leads to the form of a new return, unless the shop can make none now. */
export const NewReturnLink = ({ kind, label = `New ${kind.one}` }: { kind: Kind; label?: string }) => {
  const { creating } = useBlocked();
  return creating === null ? (
    <ButtonLink to={kind.add} leftSection={icon}>
      {label}
    </ButtonLink>
  ) : (
    <BlockableButton blocked={creating} leftSection={icon}>
      {label}
    </BlockableButton>
  );
};
