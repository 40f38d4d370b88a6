import { Alert, Button, Checkbox, Group, Kbd, Skeleton, Stack, Text, Textarea } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { PackageCheck } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { AdminTradeReturn as TradeReturn } from '../../../../contract/admin-returns.ts';
import { TRADE_RETURN_RECEIPT } from '../../../../contract/lifecycle.ts';
import { ApiError, api } from '../../api.ts';
import { formatNumber } from '../../format.ts';
import { BlockableButton, useBlocked } from '../../session/blocked.tsx';
import { texts } from '../../texts.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { TextLink } from '../../ui/links.tsx';
import { notifyDone } from '../../ui/notify.ts';
import { PageBar, PageFrame } from '../../ui/page-frame.tsx';
import { ErrorAlert, QueryError } from '../../ui/query-view.tsx';
import { LastScan, ScanField, type ScanOutcome, useSound } from '../../ui/scanning.tsx';
import { useShortcuts } from '../../ui/shortcuts.ts';
import { DraftNotice, ErasedNotice, moveDraftName, useDialogDraft } from '../draft.tsx';
import { TRADE_RETURNS } from '../kinds.ts';
import { BackArrow } from '../links.tsx';
import { TRADE_MOVES } from '../moves/moves.ts';
import { ReturnMoves } from '../moves/return-moves.tsx';
import { totalOf, useMoney } from '../numbers.ts';
import { detailQuery, refetchReturns } from '../queries.ts';
import { CountTable } from './count-table.tsx';
import { allArrived, type Counts, countedOf, countScan, countsOf, isValid, linesOf } from './counts.ts';
import styles from './receive.module.css';

const words = texts.receive;
const route = getRouteApi('/inside/trade-returns/$id/receive');
/** Function keys, because the scan field has the focus, and takes every other key for a part of a scan. */
const KEYS = { all: 'F2', finish: 'F9' } as const;

export const ReceivePage = () => {
  const { id } = route.useParams();
  const detail = useQuery(detailQuery<TradeReturn>(TRADE_RETURNS, id));
  // Anew once it is approved here: counts begin with what the return is then.
  if (detail.data)
    return <Receive key={`${id} ${detail.data.status === 'TRADE_SUBMITTED'}`} tradeReturn={detail.data} />;
  return (
    <Stack maw={1100}>
      <QueryError query={detail} title={texts.detail.notRead(TRADE_RETURNS.one)} />
      {detail.isPending ? <Skeleton height={320} role="status" aria-label={texts.common.loading} /> : null}
    </Stack>
  );
};

const Receive = ({ tradeReturn }: { tradeReturn: TradeReturn }) => {
  const { id, rmaNumber, companyName, status, erasedAt } = tradeReturn;
  const receiving = useReceiving(tradeReturn);
  const isOpen = (TRADE_RETURN_RECEIPT.from as readonly string[]).includes(status);
  return (
    <PageFrame
      title={words.title(rmaNumber)}
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
          <Group justify="space-between">
            {status === 'TRADE_SUBMITTED' ? words.notApproved : words.tooLate}
            {status === 'TRADE_SUBMITTED' ? (
              <ReturnMoves<TradeReturn>
                kind={TRADE_RETURNS}
                item={tradeReturn}
                moves={TRADE_MOVES}
                more={[]}
              />
            ) : null}
          </Group>
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
    onSuccess: (result) => {
      queryClient.setQueryData(detailQuery<TradeReturn>(TRADE_RETURNS, id).queryKey, result);
      const isFinished = status !== result.status;
      const { done } = texts.returns.tradeMoves.receive;
      notifyDone(isFinished ? texts.moves.done(result.rmaNumber, done) : words.saved(result.rmaNumber));
      draft.cancel();
    },
    onSettled: () => refetchReturns(queryClient, TRADE_RETURNS),
  });
  return { counts, change, saving, load, isFromDraft };
};

/** What scans and keys do to the counts. */
const useCounting = ({ tradeReturn: { items, status }, counts, change, saving }: Receiving & Props) => {
  const sound = useSound();
  const [last, setLast] = useState<{ outcome: ScanOutcome; line: number | null } | null>(null);
  const [shownErrors, showErrors] = useState(false);
  const [isFinishing, setFinishing] = useState(false);
  const scan = (text: string) => {
    const { counts: next, ...result } = countScan(counts, items, text);
    change(next);
    setLast(result);
    sound.play(result.outcome.isDone ? 'done' : 'failed');
  };
  const table = useRef<HTMLDivElement>(null);
  const canSave = (): boolean => {
    flushSync(() => showErrors(true));
    table.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
    return isValid(counts, items) && linesOf(counts, items).length > 0 && !saving.isPending;
  };
  const save = (complete: boolean, since?: string) => {
    if (canSave()) saving.mutate({ complete, ...(since ? { since } : {}) });
  };
  /** Nothing leads back from a received return, so it is asked once more; corrections of one are saved at once. */
  const finish = () => {
    if (status === 'TRADE_RECEIVED') save(true);
    else if (canSave()) setFinishing(true);
  };
  const countAll = () => change(allArrived(counts, items));
  useShortcuts([
    { key: KEYS.all, label: words.all, run: countAll },
    { key: KEYS.finish, label: words.finish, run: finish },
  ]);
  return { sound, last, shownErrors, scan, save, finish, isFinishing, setFinishing, countAll, table };
};

const Counting = (props: Receiving & Props) => {
  const { tradeReturn, counts, change, saving, load, isFromDraft } = props;
  const { sound, last, shownErrors, scan, save, countAll, table, ...finishing } = useCounting(props);
  const { items, status } = tradeReturn;
  return (
    <>
      {isFromDraft ? <DraftNotice onStartOver={() => load(tradeReturn)} /> : null}
      <div className={styles['scanning']}>
        <ScanField label={words.scan} description={words.scanHint} onScan={scan} />
        <LastScan last={last?.outcome ?? null} />
      </div>
      <Group justify="space-between" gap="sm">
        <Button
          variant="default"
          leftSection={<PackageCheck />}
          rightSection={<Kbd>{KEYS.all}</Kbd>}
          aria-keyshortcuts={KEYS.all}
          onClick={countAll}
        >
          {words.all}
        </Button>
        <Checkbox
          label={words.sound}
          checked={sound.isOn}
          onChange={({ currentTarget }) => sound.turn(currentTarget.checked)}
        />
      </Group>
      <CountTable
        table={table}
        items={items}
        counts={counts}
        lastLine={last?.line ?? null}
        shownErrors={shownErrors}
        onChange={change}
      />
      <Textarea
        label={texts.moves.note}
        description={texts.moves.inTimeline}
        maxRows={6}
        value={counts['note'] ?? ''}
        onChange={({ currentTarget }) => change({ ...counts, note: currentTarget.value })}
      />
      <SaveBar
        items={items}
        counts={counts}
        isReceived={status === 'TRADE_RECEIVED'}
        saving={saving}
        onSave={() => save(false)}
        onFinish={finishing.finish}
      >
        <Failure saving={saving} tradeReturn={tradeReturn} onLoad={load} onSave={save} />
      </SaveBar>
      {finishing.isFinishing ? (
        <FormDialog
          title={words.finishTitle}
          action={words.finish}
          size="md"
          busy={false}
          failure={null}
          isQuestion
          onSubmit={(event) => {
            event.preventDefault();
            finishing.setFinishing(false);
            save(true);
          }}
          onClose={() => finishing.setFinishing(false)}
        >
          <FinishText items={items} counts={counts} />
        </FormDialog>
      ) : null}
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
    return <ErrorAlert title={words.notSaved} error={error} />;
  return (
    <Alert color="orange" role="alert" title={words.conflict}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{words.nothingSaved}</Text>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => onLoad(tradeReturn)}>
            {words.showTheirs}
          </Button>
          <Button size="xs" onClick={() => onSave(variables?.complete ?? false, tradeReturn.updatedAt)}>
            {words.saveMine}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
};

const useSums = (items: TradeReturn['items'], counts: Counts) => {
  const money = useMoney();
  const figures = items.map((item) => ({ item, ...countedOf(counts, item) }));
  const credit = totalOf(
    figures.map(({ item, accepted }) => ({ price: item.price, quantity: accepted || 0 })),
  );
  const sum = (each: (figure: (typeof figures)[number]) => number) =>
    totalOf(figures.map((figure) => ({ price: 1, quantity: each(figure) })));
  const missing = sum(({ item, received }) => item.quantity - (received || 0));
  return {
    pieces: words.pieces(
      formatNumber(sum(({ received }) => received || 0)),
      formatNumber(sum(({ item }) => item.quantity)),
    ),
    credit: words.credit(money(credit), money(totalOf(items))),
    missing: missing > 0 ? words.missing(formatNumber(missing)) : '',
    hasCounts: figures.some(({ received }) => received !== null),
  };
};

const FinishText = ({ items, counts }: { items: TradeReturn['items']; counts: Counts }) => {
  const { pieces, credit, missing } = useSums(items, counts);
  return (
    <>
      <Text size="sm" className="tabular-numbers">
        <strong>{pieces}</strong>
        {credit}
        {missing}.
      </Text>
      <Text size="sm">{words.finishMeans}</Text>
    </>
  );
};

interface SaveBarProps extends Pick<Receiving, 'counts' | 'saving'> {
  items: TradeReturn['items'];
  isReceived: boolean;
  onSave(): void;
  onFinish(): void;
  children: ReactNode;
}

const SaveBar = ({ items, counts, isReceived, saving, onSave, onFinish, children }: SaveBarProps) => {
  const blocked = useBlocked();
  const { pieces, credit, missing, hasCounts } = useSums(items, counts);
  return (
    <PageBar>
      {children}
      <Group justify="space-between" gap="sm">
        <Text size="sm" role="status" className="tabular-numbers">
          <strong>{pieces}</strong>
          {credit}
          {hasCounts ? missing : ''}
        </Text>
        <Group gap="xs" wrap="nowrap">
          {isReceived ? null : (
            <BlockableButton
              blocked={hasCounts ? blocked : words.countFirst}
              variant="default"
              loading={saving.isPending && saving.variables?.complete === false}
              onClick={onSave}
            >
              {words.saveForNow}
            </BlockableButton>
          )}
          <BlockableButton
            blocked={hasCounts ? blocked : words.countFirst}
            loading={saving.isPending && saving.variables?.complete !== false}
            rightSection={<Kbd>{KEYS.finish}</Kbd>}
            aria-keyshortcuts={KEYS.finish}
            onClick={onFinish}
          >
            {isReceived ? words.saveCorrections : words.finish}
          </BlockableButton>
        </Group>
      </Group>
    </PageBar>
  );
};
