import { Alert, Button, Checkbox, Group, Skeleton } from '@mantine/core';
import { useQueries, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Printer } from 'lucide-react';
import { shopSettingsQuery } from '../../shop-queries.ts';
import { texts } from '../../texts.ts';
import { focusOnPage } from '../../ui/focus.ts';
import { TextLink } from '../../ui/links.tsx';
import { PageFrame } from '../../ui/page-frame.tsx';
import { QueryError } from '../../ui/query-view.tsx';
import { type AnyReturn, type Kind, REPAIRS, TRADE_RETURNS } from '../kinds.ts';
import { BackArrow, BackToList } from '../links.tsx';
import { detailQuery } from '../queries.ts';
import styles from './print-page.module.css';
import { SLIP_SIZES, Slips, usePaper } from './slips.tsx';

const words = texts.print;

const route = getRouteApi('/inside/print');

export const PrintPage = () => {
  const search = route.useSearch();
  const ids = search.ids.split(',').filter(Boolean);
  const kind = search.kind === 'trade-returns' ? TRADE_RETURNS : REPAIRS;
  const settings = useQuery(shopSettingsQuery);
  const { items, failed, isPending } = useQueries({
    queries: ids.map((id) => ({ ...detailQuery<AnyReturn>(kind, id), refetchInterval: false as const })),
    combine: (results) => ({
      items: results.flatMap(({ data }) => data ?? []),
      failed: results.filter(({ error, data }) => error && !data).length,
      isPending: results.some((result) => result.isPending),
    }),
  });
  const paper = usePaper();
  return (
    <>
      <PageFrame
        backLink={<Back kind={kind} items={items} />}
        title={words.title(items.length)}
        actions={<Toolbar paper={paper} disabled={isPending || items.length === 0 || !settings.data} />}
      >
        <QueryError query={settings} title={words.settingsFailed} />
        {failed > 0 ? (
          <Alert color="orange" role="alert">
            {words.missing(failed, kind.one, kind.many)}
          </Alert>
        ) : null}
        {isPending || settings.isPending ? <Skeleton height={400} maw={600} /> : null}
      </PageFrame>
      {settings.data ? (
        <div className={`slips ${styles['slips']}`} data-size={paper.size}>
          <Slips items={items} letterhead={settings.data} paper={paper} />
        </div>
      ) : null}
    </>
  );
};

/** One slip was asked for on the page of its return, many in the list. */
const Back = ({ kind, items: [first, ...rest] }: { kind: Kind; items: readonly AnyReturn[] }) =>
  first && rest.length === 0 ? (
    <TextLink to={kind.detail} params={{ id: first.id }} size="sm" w="fit-content">
      <BackArrow />
      {first.rmaNumber}
    </TextLink>
  ) : (
    <BackToList kind={kind} />
  );

interface ToolbarProps {
  paper: ReturnType<typeof usePaper>;
  disabled: boolean;
}

const Toolbar = ({ paper: { size, setSize, withCopy, setWithCopy }, disabled }: ToolbarProps) => (
  <Group gap="md">
    <Checkbox
      label={words.withCopy}
      checked={withCopy}
      disabled={size === 'label'}
      onChange={({ currentTarget }) => setWithCopy(currentTarget.checked)}
    />
    <Group gap={6} role="group" aria-label={words.paper}>
      {SLIP_SIZES.map((each) => (
        <Button
          key={each}
          size="compact-sm"
          variant={each === size ? 'light' : 'default'}
          aria-pressed={each === size}
          onClick={() => setSize(each)}
        >
          {words.sizes[each]}
        </Button>
      ))}
    </Group>
    <Button leftSection={<Printer />} disabled={disabled} ref={focusOnPage} onClick={() => window.print()}>
      {words.print}
    </Button>
  </Group>
);
