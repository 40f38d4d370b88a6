import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Bookmark, Pencil, Users } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { SavedView } from '../../../../contract/admin-work.ts';
import { formatNumber } from '../../format.ts';
import type { ListSearch } from '../../list-search.ts';
import { useSession } from '../../session/session.ts';
import { overviewQuery } from '../../shop-queries.ts';
import { texts } from '../../texts.ts';
import { lazyPart } from '../../ui/lazy.tsx';
import type { Kind } from '../kinds.ts';
import {
  BUILT_IN_VIEWS,
  isOfKind,
  isSameSearch,
  type ListProps,
  searchOfView,
  viewCountQuery,
  viewsQuery,
} from '../queries.ts';
import styles from './views-bar.module.css';

const ViewDialog = lazyPart(async () => (await import('./view-dialog.tsx')).ViewDialog);

export const ViewsBar = ({ kind, search, onSearch }: ListProps) => {
  const { data } = useQuery(viewsQuery);
  const { user } = useSession();
  /** The view that is being changed; `new` for one that is saved. */
  const [dialog, setDialog] = useState<SavedView | 'new' | null>(null);
  const saved = (data?.items ?? []).filter((view) => isOfKind(kind, view));
  const current = saved.find((view) => isSameSearch(searchOfView(view), search));
  const isBuiltIn = BUILT_IN_VIEWS.some((view) => isSameSearch(view.search, search));
  const canChange = current && (!current.shared || user.role === 'ADMIN');
  const action = canChange
    ? { label: texts.list.editView, Icon: Pencil, of: current }
    : current || isBuiltIn
      ? null
      : { label: texts.list.saveView, Icon: Bookmark, of: 'new' as const };
  return (
    <div className={styles['bar']}>
      <nav className={styles['tabs']} aria-label={texts.list.views}>
        {BUILT_IN_VIEWS.map((view) => (
          <Tab key={view.name} kind={kind} to={view.search} isCurrent={isSameSearch(view.search, search)}>
            {view.name}
            <Count kind={kind} figure={view.figure} />
          </Tab>
        ))}
        {saved.map((view, index) => (
          <Tab key={view.id} kind={kind} to={searchOfView(view)} isCurrent={view === current}>
            <bdi>{view.name}</bdi>
            {view.shared ? <Users size={13} role="img" aria-label={texts.list.shared} /> : null}
            {index < COUNTED ? <SavedCount kind={kind} search={searchOfView(view)} /> : null}
          </Tab>
        ))}
      </nav>
      {/* One button for both, so that the focus stays on it when a view was saved. */}
      {action ? (
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<action.Icon size={14} />}
          onClick={() => setDialog(action.of)}
          style={{ flex: 'none' }}
        >
          {action.label}
        </Button>
      ) : null}
      {dialog ? (
        <ViewDialog
          kind={kind}
          view={dialog === 'new' ? null : dialog}
          search={search}
          onDeleted={() => onSearch({})}
          onClose={() => setDialog(null)}
        />
      ) : null}
    </div>
  );
};

/** Each of these is a request that counts. */
const COUNTED = 4;

interface TabProps {
  kind: Kind;
  to: ListSearch;
  isCurrent: boolean;
  children: ReactNode;
}

const Tab = ({ kind, to, isCurrent, children }: TabProps) => {
  const link = useRef<HTMLAnchorElement>(null);
  // On a phone the tabs are wider than the screen.
  useEffect(() => {
    if (isCurrent) link.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [isCurrent]);
  return (
    <Link
      ref={link}
      to={kind.path}
      search={to}
      className={styles['tab'] ?? ''}
      activeOptions={{ exact: true }}
      activeProps={{}}
      aria-current={isCurrent ? 'page' : undefined}
      preload={false}
    >
      {children}
    </Link>
  );
};

const Count = ({ kind, figure }: { kind: Kind; figure: (typeof BUILT_IN_VIEWS)[number]['figure'] }) => {
  const { data } = useQuery(overviewQuery);
  if (!data) return null;
  const figures = data[kind.overview];
  const count =
    figure === 'all' ? figures.byStatus.reduce((sum, each) => sum + each.count, 0) : figures[figure];
  return (
    <span className={styles['count']} data-late={(figure === 'overdue' && count > 0) || undefined}>
      {formatNumber(count)}
    </span>
  );
};

const SavedCount = ({ kind, search }: { kind: Kind; search: ListSearch }) => {
  const { data } = useQuery(viewCountQuery(kind, search));
  return data === undefined ? null : <span className={styles['count']}>{formatNumber(data)}</span>;
};
