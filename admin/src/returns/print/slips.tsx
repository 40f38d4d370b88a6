import { NativeSelect, type NativeSelectProps } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import type { AdminOfflineRepair, AdminTradeReturn } from '../../../../contract/admin-returns.ts';
import type { ShopSettings } from '../../../../contract/shop-settings.ts';
import { formatNumber } from '../../format.ts';
import { shopSettingsQuery } from '../../shop-queries.ts';
import { texts } from '../../texts.ts';
import { Slip, type SlipData, type SlipSize } from '../../ui/slip/slip.tsx';
import { useRemembered } from '../../ui/tab-storage.ts';
import { isErased } from '../../ui/two-lines.tsx';
import { type AnyReturn, addressLines } from '../kinds.ts';
import styles from './print-page.module.css';

const words = texts.print;

export const SLIP_SIZES = Object.keys(words.sizes) as SlipSize[];

/** The paper that was chosen last on this computer, which has the printer. Only on A5 do two copies fit on a sheet of A4. */
export const usePaper = () => {
  const [stored, setSize] = useRemembered<SlipSize>('handback.slip-size', 'a4');
  const [copies, setCopies] = useRemembered<Partial<Record<SlipSize, boolean>>>('handback.slip-copies', {});
  const size = SLIP_SIZES.includes(stored) ? stored : 'a4';
  return {
    size,
    setSize,
    withCopy: size !== 'label' && (copies[size] ?? size === 'a5'),
    setWithCopy: (withCopy: boolean) => setCopies({ ...copies, [size]: withCopy }),
  };
};

interface PaperProps extends Omit<NativeSelectProps, 'data' | 'value' | 'onChange'> {
  paper: Pick<ReturnType<typeof usePaper>, 'size' | 'setSize'>;
}

export const PaperSelect = ({ paper, ...props }: PaperProps) => (
  <NativeSelect
    data={SLIP_SIZES.map((size) => ({ value: size, label: words.sizes[size] }))}
    value={paper.size}
    onChange={({ currentTarget }) => paper.setSize(currentTarget.value as SlipSize)}
    {...props}
  />
);

type Paper = Pick<ReturnType<typeof usePaper>, 'size' | 'withCopy'>;

interface SlipsProps {
  items: readonly AnyReturn[];
  letterhead: ShopSettings;
  paper: Paper;
}

export const Slips = ({ items, letterhead, paper: { size, withCopy } }: SlipsProps) =>
  items.flatMap((item) =>
    (withCopy ? (['shop', 'customer'] as const) : (['shop'] as const)).map((copy) => (
      <Slip key={`${item.id} ${copy}`} letterhead={letterhead} slip={slipOf(item)} size={size} copy={copy} />
    )),
  );

/**
 * Prints a slip from whatever page: `print` resolves when the browser has it, and rejects where the letterhead cannot be read or the
 * page is left before.
 */
export const useSlipPrinter = () => {
  const queryClient = useQueryClient();
  const { data: letterhead } = useQuery(shopSettingsQuery);
  const paper = usePaper();
  const [job, setJob] = useState<{ item: AnyReturn; finish(): void } | null>(null);
  const sheets = useRef<HTMLDivElement>(null);
  /** Ends what is not printed yet; null once the page is left. */
  const giveUp = useRef<(() => void) | null>(null);
  useEffect(() => {
    giveUp.current = () => {};
    return () => {
      giveUp.current?.();
      giveUp.current = null;
    };
  }, []);
  useEffect(() => {
    if (!job) return;
    const pictures = [...(sheets.current?.querySelectorAll('img') ?? [])];
    void Promise.all(pictures.map((picture) => picture.decode().catch(() => {}))).then(() => {
      window.print();
      job.finish();
    });
  }, [job]);
  useEffect(() => {
    // Not when `print` returns: phones draw the page after that.
    const remove = () => setJob(null);
    window.addEventListener('afterprint', remove);
    return () => window.removeEventListener('afterprint', remove);
  }, []);
  const print = async (item: AnyReturn): Promise<void> => {
    await queryClient.ensureQueryData(shopSettingsQuery);
    await new Promise<void>((finish, fail) => {
      const leave = () => fail(new Error(words.pageLeft));
      if (giveUp.current === null) return leave();
      giveUp.current = leave;
      setJob({ item, finish });
    });
  };
  // Beside the app: nothing of the page around it takes room on the paper.
  const slips =
    job && letterhead
      ? createPortal(
          <div ref={sheets} className={`slips ${styles['print-only']}`}>
            <Slips items={[job.item]} letterhead={letterhead} paper={paper} />
          </div>,
          document.body,
        )
      : null;
  return { print, slips, paper };
};

type OfKind = Omit<SlipData, 'rmaNumber' | 'createdAt' | 'phone' | 'dueAt'>;

const ofRepair = (repair: AdminOfflineRepair): OfKind => {
  const { faultyItem: item } = repair;
  const subject = `${item.quantity === 1 ? '' : `${formatNumber(item.quantity)} × `}${item.productName}`;
  return {
    heading: words.repair,
    warning: repair.isDangerous ? words.dangerous : null,
    customer: repair.customerName,
    subject,
    fault: repair.faultDescription,
    facts: [
      [words.customer, [repair.customerName, repair.customerPhone].filter(Boolean).join('\n')],
      [words.email, isErased(repair.customerEmail) ? null : repair.customerEmail],
      [words.order, repair.orderNumber],
      [words.store, repair.storeId],
      [words.item, [subject, item.variantTitle].filter(Boolean).join('\n')],
      [words.sku, item.sku],
      [words.serialNumber, item.serialNumber],
      [words.fault, repair.faultDescription],
      [words.notes, repair.notes],
      [words.handedOver, repair.replacementSku],
    ],
    items: [],
  };
};

const ofTradeReturn = (tradeReturn: AdminTradeReturn): OfKind => {
  const [first, ...rest] = tradeReturn.items;
  return {
    heading: words.tradeReturn,
    warning: null,
    customer: tradeReturn.companyName,
    subject: words.andMore(first?.productName ?? '', rest.length),
    fault: tradeReturn.faultDescription ?? tradeReturn.reason,
    facts: [
      [words.company, `${tradeReturn.companyName} (${tradeReturn.companyId})`],
      [words.contact, [tradeReturn.customerName, tradeReturn.customerPhone].filter(Boolean).join('\n')],
      [words.tradeOrder, tradeReturn.tradeOrderNumber],
      [words.from, addressLines(tradeReturn).join('\n')],
      [words.reason, tradeReturn.reason],
      [words.fault, tradeReturn.faultDescription],
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
  phone: item.customerPhone,
  dueAt: item.dueAt,
  ...('faultyItem' in item ? ofRepair(item) : ofTradeReturn(item)),
});
