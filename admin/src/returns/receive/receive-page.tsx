import { Alert, Button, Checkbox, Group, Kbd, Skeleton, Stack, Text, Textarea } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { PackageCheck } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { AdminTradeReturn as TradeReturn } from '../../../../contract/admin-returns.ts';
import { TRADE_RETURN_RECEIPT } from '../../../../contract/lifecycle.ts';
import { ApiError, api } from '../../api.ts';
import { BlockableButton, useBlocked } from '../../session/blocked.tsx';
import { TextLink } from '../../ui/links.tsx';
import { notifyDone } from '../../ui/notify.ts';
import { PageFrame } from '../../ui/page-frame.tsx';
import { ErrorAlert, QueryError } from '../../ui/query-view.tsx';
import { LastScan, ScanField, type ScanOutcome, useSound } from '../../ui/scanning.tsx';
import { useShortcuts } from '../../ui/shortcuts.ts';
import { DraftNotice, ErasedNotice, moveDraftName, useDialogDraft } from '../draft.tsx';
import { TRADE_RETURNS } from '../kinds.ts';
import { BackArrow } from '../links.tsx';
import { formatNumber, totalOf, useMoney } from '../numbers.ts';
import { detailQuery, refetchReturns } from '../queries.ts';
import { CountTable } from './count-table.tsx';
import { allArrived, type Counts, countedOf, countScan, countsOf, isValid, linesOf } from './counts.ts';
import styles from './receive.module.css';

const route = getRouteApi('/inside/trade-returns/$id/receive');
/** Function keys, because the scan field has the focus, and takes every other key for a part of a scan. */
const KEYS = { all: 'F2', finish: 'F9' } as const;

export const ReceivePage = () => {
  const { id } = route.useParams();
  const detail = useQuery(detailQuery<TradeReturn>(TRADE_RETURNS, id));
  if (detail.data) return <Receive key={id} tradeReturn={detail.data} />;
  return (
    <Stack maw={1100}>
      <QueryError query={detail} title="This trade return could not be read" />
      {detail.isPending ? <Skeleton height={320} role="status" aria-label="Loading" /> : null}
    </Stack>
  );
};

const Receive = ({ tradeReturn }: { tradeReturn: TradeReturn }) => {
  const { id, rmaNumber, companyName, status, erasedAt } = tradeReturn;
  const receiving = useReceiving(tradeReturn);
  const isOpen = (TRADE_RETURN_RECEIPT.from as readonly string[]).includes(status);
  return (
    <PageFrame
      title={`Receive ${rmaNumber}`}
      intro={<bdi>{companyName}</bdi>}
      backLink={
        <TextLink to={TRADE_RETURNS.detail} params={{ id }} size="sm" w="fit-content">
          <BackArrow />
          {rmaNumber}
        </TextLink>
      }
    >
      {erasedAt ? (
        <ErasedNotice id={id} erasedAt={erasedAt} />
      ) : isOpen ? (
        <Counting tradeReturn={tradeReturn} {...receiving} />
      ) : (
        <Alert color="orange">
          {status === 'TRADE_SUBMITTED'
            ? 'This trade return is not approved yet. Approve it first, then count what arrives.'
            : 'What arrived can be counted and corrected until the credit is requested.'}
        </Alert>
      )}
    </PageFrame>
  );
};

type Receiving = ReturnType<typeof useReceiving>;

/** The counts, kept in this tab until they are saved. */
const useReceiving = (tradeReturn: TradeReturn) => {
  const { id, items, status, updatedAt } = tradeReturn;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const leave = () => void navigate({ to: TRADE_RETURNS.detail, params: { id } });
  const draft = useDialogDraft(moveDraftName(id, 'receive'), updatedAt, leave);
  const [seen, setSeen] = useState(draft.seen);
  const [counts, setCounts] = useState<Counts>(() => draft.stored ?? countsOf(items));
  const [isFromDraft, setFromDraft] = useState(draft.stored !== null);
  const change = (next: Counts) => {
    setCounts(next);
    draft.keep(next);
  };
  const load = (from: TradeReturn) => {
    setSeen(from.updatedAt);
    setCounts(countsOf(from.items));
    draft.forget();
    setFromDraft(false);
    saving.reset();
  };
  const saving = useMutation({
    mutationFn: ({ complete, since }: { complete: boolean; since?: string }) =>
      api.post<TradeReturn>(
        `${TRADE_RETURNS.path}/${id}/receive`,
        {
          lines: linesOf(counts, items),
          complete: status === 'TRADE_APPROVED' ? complete : null,
          note: counts['note']?.trim() || null,
        },
        {},
        { seen: since ?? seen },
      ),
    onSuccess: (answer) => {
      queryClient.setQueryData(detailQuery<TradeReturn>(TRADE_RETURNS, id).queryKey, answer);
      notifyDone(`${answer.rmaNumber}: saved what arrived`);
      draft.cancel();
    },
    onSettled: () => refetchReturns(queryClient, TRADE_RETURNS),
  });
  return { counts, change, saving, load, isFromDraft };
};

/** What scans and keys do to the counts. */
const useCounting = ({ tradeReturn: { items }, counts, change, saving }: Receiving & Props) => {
  const sound = useSound();
  const [last, setLast] = useState<{ outcome: ScanOutcome; line: number | null } | null>(null);
  const [shownErrors, showErrors] = useState(false);
  const scan = (text: string) => {
    const { counts: next, ...result } = countScan(counts, items, text);
    change(next);
    setLast(result);
    sound.play(result.outcome.isDone ? 'done' : 'failed');
  };
  const save = (complete: boolean, since?: string) => {
    showErrors(true);
    if (!isValid(counts, items) || linesOf(counts, items).length === 0 || saving.isPending) return;
    saving.mutate({ complete, ...(since ? { since } : {}) });
  };
  const countAll = () => change(allArrived(counts, items));
  useShortcuts([
    { key: KEYS.all, label: 'All arrived', run: countAll },
    { key: KEYS.finish, label: 'Finish receiving', run: () => save(true) },
  ]);
  return { sound, last, shownErrors, scan, save, countAll };
};

const Counting = (props: Receiving & Props) => {
  const { tradeReturn, counts, change, saving, load, isFromDraft } = props;
  const { sound, last, shownErrors, scan, save, countAll } = useCounting(props);
  const { items, status } = tradeReturn;
  return (
    <>
      {isFromDraft ? <DraftNotice onStartOver={() => load(tradeReturn)} /> : null}
      <ScanField
        label="Scan an item"
        description="Its SKU or order line. Each scan counts one piece; figures can also be typed below."
        onScan={scan}
      />
      <LastScan last={last?.outcome ?? null} />
      <Group justify="space-between" gap="sm">
        <Button
          variant="default"
          leftSection={<PackageCheck size={16} aria-hidden />}
          rightSection={<Kbd visibleFrom="sm">{KEYS.all}</Kbd>}
          aria-keyshortcuts={KEYS.all}
          onClick={countAll}
        >
          All arrived
        </Button>
        <Checkbox
          label="Sound"
          checked={sound.isOn}
          onChange={({ currentTarget }) => sound.turn(currentTarget.checked)}
        />
      </Group>
      <CountTable
        items={items}
        counts={counts}
        lastLine={last?.line ?? null}
        shownErrors={shownErrors}
        onChange={change}
      />
      <Textarea
        label="Note"
        description="Kept with the entry in the timeline."
        autosize
        minRows={1}
        maxRows={6}
        value={counts['note'] ?? ''}
        onChange={({ currentTarget }) => change({ ...counts, note: currentTarget.value })}
      />
      <SaveBar
        items={items}
        counts={counts}
        isReceived={status === 'TRADE_RECEIVED'}
        saving={saving}
        onSave={save}
      >
        <Failure saving={saving} tradeReturn={tradeReturn} onLoad={load} onSave={save} />
      </SaveBar>
    </>
  );
};

interface Props {
  tradeReturn: TradeReturn;
}

interface FailureProps extends Props, Pick<Receiving, 'saving'> {
  onLoad(from: TradeReturn): void;
  onSave(complete: boolean, since: string): void;
}

/** The page was refetched when the save was refused, so `tradeReturn` is what the colleague left. */
const Failure = ({ saving, tradeReturn, onLoad, onSave }: FailureProps) => {
  const { error, variables } = saving;
  if (!error) return null;
  if (!(error instanceof ApiError) || error.body?.code !== 'EDIT_CONFLICT')
    return <ErrorAlert title="Not saved yet; your counts are kept" error={error} />;
  return (
    <Alert color="orange" role="alert" title="Someone else just changed this return">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">Nothing was saved yet, and your counts are still here.</Text>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => onLoad(tradeReturn)}>
            Show their counts
          </Button>
          <Button size="xs" onClick={() => onSave(variables?.complete ?? false, tradeReturn.updatedAt)}>
            Save mine anyway
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
};

interface SaveBarProps extends Pick<Receiving, 'counts' | 'saving'> {
  items: TradeReturn['items'];
  isReceived: boolean;
  onSave(complete: boolean): void;
  children: ReactNode;
}

const SaveBar = ({ items, counts, isReceived, saving, onSave, children }: SaveBarProps) => {
  const money = useMoney();
  const { changing } = useBlocked();
  const figures = items.map((item) => ({ item, ...countedOf(counts, item) }));
  const credit = totalOf(
    figures.map(({ item, accepted }) => ({ price: item.price, quantity: accepted || 0 })),
  );
  const sum = (each: (figure: (typeof figures)[number]) => number) =>
    totalOf(figures.map((figure) => ({ price: 1, quantity: each(figure) })));
  const missing = sum(({ item, received }) => item.quantity - (received || 0));
  const hasCounts = figures.some(({ received }) => received !== null);
  return (
    <div className={styles['bar']}>
      {children}
      <Group justify="space-between" gap="sm">
        <Text size="sm" role="status" className="tabular-numbers">
          <strong>
            {formatNumber(sum(({ received }) => received || 0))} of{' '}
            {formatNumber(sum(({ item }) => item.quantity))} pieces
          </strong>
          , credit {money(credit)} of {money(totalOf(items))}
          {missing > 0 && hasCounts ? `; ${formatNumber(missing)} missing` : ''}
        </Text>
        <Group gap="xs" wrap="nowrap">
          {isReceived ? null : (
            <BlockableButton
              blocked={hasCounts ? changing : 'Count at least one line.'}
              variant="default"
              loading={saving.isPending && saving.variables?.complete === false}
              onClick={() => onSave(false)}
            >
              Save, more to come
            </BlockableButton>
          )}
          <BlockableButton
            blocked={hasCounts ? changing : 'Count at least one line.'}
            loading={saving.isPending && saving.variables?.complete !== false}
            rightSection={<Kbd visibleFrom="sm">{KEYS.finish}</Kbd>}
            aria-keyshortcuts={KEYS.finish}
            onClick={() => onSave(true)}
          >
            {isReceived ? 'Save corrections' : 'Finish receiving'}
          </BlockableButton>
        </Group>
      </Group>
    </div>
  );
};
