import { Alert, Button, Checkbox, Group, Skeleton } from '@mantine/core';
import { useQueries, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Printer } from 'lucide-react';
import { useState } from 'react';
import type { OfflineRepair } from '../../../../contract/offline-repair.ts';
import type { TradeReturn } from '../../../../contract/trade-return.ts';
import { shopSettingsQuery } from '../../shop-queries.ts';
import { TextLink } from '../../ui/links.tsx';
import { PageTitle } from '../../ui/page-frame.tsx';
import { QueryError } from '../../ui/query-view.tsx';
import { SLIP_SIZES, Slip, type SlipData, type SlipSize, useSlipSize } from '../../ui/slip/slip.tsx';
import { isErased } from '../../ui/two-lines.tsx';
import { type AnyReturn, addressLines, type Kind, REPAIRS, TRADE_RETURNS } from '../kinds.ts';
import { BackArrow, BackToList } from '../links.tsx';
import { formatNumber } from '../numbers.ts';
import { detailQuery } from '../queries.ts';
import styles from './print-page.module.css';

const route = getRouteApi('/inside/print');

export const PrintPage = () => {
  const search = route.useSearch();
  const ids = search.ids.split(',').filter(Boolean);
  const kind = search.kind === 'trade-returns' ? TRADE_RETURNS : REPAIRS;
  const settings = useQuery(shopSettingsQuery);
  const { items, failed, isPending } = useReturns(kind, ids);
  const [size, setSize] = useSlipSize();
  const [withCopy, setWithCopy] = useState(true);
  const copies = size !== 'label' && withCopy ? (['shop', 'customer'] as const) : (['shop'] as const);
  return (
    <div className={styles['page']}>
      <Back kind={kind} items={items} />
      <Group justify="space-between" gap="sm">
        <PageTitle>{items.length > 1 ? `${items.length} slips` : 'Slip'}</PageTitle>
        <Toolbar
          size={size}
          onSize={setSize}
          withCopy={withCopy}
          onCopy={setWithCopy}
          disabled={isPending || items.length === 0 || !settings.data}
        />
      </Group>
      <QueryError query={settings} title="The shop’s settings could not be read" />
      {failed > 0 ? (
        <Alert color="orange" role="alert">
          {failed === 1 ? `One ${kind.one}` : `${failed} ${kind.many}`} could not be read and will not be
          printed.
        </Alert>
      ) : null}
      {isPending || settings.isPending ? <Skeleton height={400} maw={600} /> : null}
      {settings.data ? (
        <div className={`slips ${styles['slips']}`} data-size={size}>
          {items.flatMap((item) =>
            copies.map((copy) => (
              <Slip
                key={`${item.id} ${copy}`}
                letterhead={settings.data}
                slip={slipOf(item)}
                size={size}
                copy={copy}
              />
            )),
          )}
        </div>
      ) : null}
    </div>
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

const useReturns = (kind: Kind, ids: readonly string[]) =>
  useQueries({
    queries: ids.map((id) => ({ ...detailQuery<AnyReturn>(kind, id), refetchInterval: false as const })),
    combine: (results) => ({
      items: results.flatMap(({ data }) => data ?? []),
      failed: results.filter(({ error, data }) => error && !data).length,
      isPending: results.some((result) => result.isPending),
    }),
  });

interface ToolbarProps {
  size: SlipSize;
  onSize(size: SlipSize): void;
  withCopy: boolean;
  onCopy(withCopy: boolean): void;
  disabled: boolean;
}

const Toolbar = ({ size, onSize, withCopy, onCopy, disabled }: ToolbarProps) => (
  <Group gap="md">
    <Checkbox
      label="With a copy for the customer"
      checked={withCopy && size !== 'label'}
      disabled={size === 'label'}
      onChange={({ currentTarget }) => onCopy(currentTarget.checked)}
    />
    <Group gap={6} role="group" aria-label="Paper">
      {(Object.keys(SLIP_SIZES) as SlipSize[]).map((each) => (
        <Button
          key={each}
          size="compact-sm"
          variant={each === size ? 'light' : 'default'}
          aria-pressed={each === size}
          onClick={() => onSize(each)}
        >
          {SLIP_SIZES[each]}
        </Button>
      ))}
    </Group>
    <Button
      leftSection={<Printer size={16} aria-hidden />}
      disabled={disabled}
      autoFocus
      onClick={() => window.print()}
    >
      Print
    </Button>
  </Group>
);

const ofRepair = (repair: OfflineRepair): Omit<SlipData, 'rmaNumber' | 'createdAt'> => {
  const { faultyItem: item } = repair;
  const subject = `${item.quantity === 1 ? '' : `${formatNumber(item.quantity)} × `}${item.productName}`;
  return {
    heading: 'Repair',
    warning: repair.isDangerous ? 'Dangerous goods' : null,
    customer: repair.customerName,
    subject,
    fault: repair.faultDescription,
    facts: [
      ['Customer', [repair.customerName, repair.customerPhone].filter(Boolean).join('\n')],
      ['E-mail', isErased(repair.customerEmail) ? null : repair.customerEmail],
      ['Order', repair.orderNumber],
      ['Store', repair.storeId],
      ['Item', [subject, item.variantTitle].filter(Boolean).join('\n')],
      ['SKU', item.sku],
      ['Serial number', item.serialNumber],
      ['Fault', repair.faultDescription],
      ['Notes', repair.notes],
      ['Handed over', repair.replacementSku],
    ],
    items: [],
  };
};

const ofTradeReturn = (tradeReturn: TradeReturn): Omit<SlipData, 'rmaNumber' | 'createdAt'> => {
  const [first, ...rest] = tradeReturn.items;
  return {
    heading: 'Trade return',
    warning: null,
    customer: tradeReturn.companyName,
    subject: `${first?.productName ?? ''}${rest.length > 0 ? ` and ${rest.length} more` : ''}`,
    fault: tradeReturn.faultDescription ?? tradeReturn.reason,
    facts: [
      ['Company', `${tradeReturn.companyName} (${tradeReturn.companyId})`],
      ['Contact', [tradeReturn.customerName, tradeReturn.customerPhone].filter(Boolean).join('\n')],
      ['Trade order', tradeReturn.tradeOrderNumber],
      ['From', addressLines(tradeReturn).join('\n')],
      ['Reason', tradeReturn.reason],
      ['Fault', tradeReturn.faultDescription],
    ],
    items: tradeReturn.items.map(({ sku, productName, variantTitle, quantity }) => ({
      sku,
      name: [productName, variantTitle].filter(Boolean).join(', '),
      quantity: formatNumber(quantity),
    })),
  };
};

const slipOf = (item: AnyReturn): SlipData => ({
  rmaNumber: item.rmaNumber,
  createdAt: item.createdAt,
  ...('faultyItem' in item ? ofRepair(item) : ofTradeReturn(item)),
});
