import { ArrowLeft, Plus } from 'lucide-react';
import type { ListSearch } from '../list-search.ts';
import { BlockableButton, useBlocked } from '../session/blocked.tsx';
import { useSession } from '../session/session.ts';
import { texts } from '../texts.ts';
import { ButtonLink, TextLink } from '../ui/links.tsx';
import { readTab, useRemembered, writeTab } from '../ui/tab-storage.ts';
import type { Kind } from './kinds.ts';

// The last search of each list, for the link back. In the tab's storage, which signing out empties: a search may hold a customer's name.

const searchName = ({ path }: Kind): string => `handback.search.${path}`;

export const rememberSearch = (kind: Kind, search: ListSearch): void => writeTab(searchName(kind), search);
export const lastSearch = (kind: Kind): ListSearch => readTab<ListSearch>(searchName(kind)) ?? {};

export const PAGE_SIZES = [20, 50, 100] as const;

/** How many rows a page has: this browser remembers it for each person. */
export const usePageSize = (): [number, (size: number) => void] => {
  const { user } = useSession();
  const [size, setSize] = useRemembered<number>(`handback.page-size.${user.id}`, PAGE_SIZES[0]);
  return [PAGE_SIZES.find((known) => known === size) ?? PAGE_SIZES[0], setSize];
};

export const BackArrow = () => <ArrowLeft size={14} style={{ marginInlineEnd: 4, verticalAlign: '-2px' }} />;

export const BackToList = ({ kind }: { kind: Kind }) => (
  <TextLink to={kind.path} search={lastSearch(kind)} size="sm" w="fit-content">
    <BackArrow />
    {kind.title}
  </TextLink>
);

const icon = <Plus />;

export const NewReturnLink = ({ kind }: { kind: Kind }) => {
  const blocked = useBlocked();
  const label = texts.detail.newOne(kind.one);
  return blocked === null ? (
    <ButtonLink to={kind.add} leftSection={icon}>
      {label}
    </ButtonLink>
  ) : (
    <BlockableButton blocked={blocked} leftSection={icon}>
      {label}
    </BlockableButton>
  );
};
