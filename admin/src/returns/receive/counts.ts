import type { TradeReturn } from '../../../../contract/trade-return.ts';
import { texts } from '../../texts.ts';
import type { ScanOutcome } from '../../ui/scanning.tsx';
import { readNumber } from '../new/read-number.ts';
import { formatNumber } from '../numbers.ts';

// What was counted of a trade return, as it was typed: `received.1`, `accepted.1` and `note.1` of line 1, and so on. A line without a
// figure was not counted yet; without `accepted`, all that was received is.

const words = texts.receive;

export type Item = TradeReturn['items'][number];
export type Counts = Record<string, string>;

const PLACES = 4;
const exact = (value: number): string => String(Number(value.toFixed(PLACES)));

/** What the record says already. */
export const countsOf = (items: readonly Item[]): Counts =>
  Object.fromEntries(
    items
      .filter(({ received }) => received > 0)
      .flatMap(({ line, received, accepted }) => [
        [`received.${line}`, exact(received)],
        ...(accepted === received ? [] : [[`accepted.${line}`, exact(accepted)]]),
      ]),
  );

/** null: not typed. NaN: not a number. */
const figure = (typed: string | undefined): number | null => {
  if (!typed?.trim()) return null;
  const reading = readNumber(typed);
  return typeof reading === 'string' ? Number(reading) : Number.NaN;
};

export interface Counted {
  received: number | null;
  accepted: number;
  note: string;
  error: { received?: string; accepted?: string };
}

/** What a figure that is not clear may mean; null: it is clear. */
const unclear = (typed = ''): string | null => {
  const reading = typed.trim() === '' ? '' : readNumber(typed);
  if (typeof reading === 'string') return null;
  return reading === null ? words.noNumber : words.unclear(...(reading.map(Number) as [number, number]));
};

const errorOf = ({ quantity }: Item, received: number | null, accepted: number | null): Counted['error'] => {
  const most = words.atMost(formatNumber(quantity));
  if (received !== null && !(received >= 0 && received <= quantity)) return { received: most };
  if (accepted !== null && received === null) return { received: words.howMany };
  if (accepted !== null && !(accepted >= 0 && accepted <= (received ?? 0)))
    return { accepted: words.atMost(formatNumber(received ?? 0)) };
  return {};
};

export const countedOf = (counts: Counts, item: Item): Counted => {
  const typed = { received: counts[`received.${item.line}`], accepted: counts[`accepted.${item.line}`] };
  const [received, accepted] = [figure(typed.received), figure(typed.accepted)];
  const [ofReceived, ofAccepted] = [unclear(typed.received), unclear(typed.accepted)];
  const notClear = {
    ...(ofReceived && { received: ofReceived }),
    ...(ofAccepted && { accepted: ofAccepted }),
  };
  return {
    received,
    accepted: Math.max(0, accepted ?? received ?? 0),
    note: counts[`note.${item.line}`]?.trim() ?? '',
    error: ofReceived || ofAccepted ? notClear : errorOf(item, received, accepted),
  };
};

export const isValid = (counts: Counts, items: readonly Item[]): boolean =>
  items.every((item) => Object.keys(countedOf(counts, item).error).length === 0);

/** The lines that were counted, as the service takes them. */
export const linesOf = (counts: Counts, items: readonly Item[]) =>
  items.flatMap((item) => {
    const { received, accepted, note } = countedOf(counts, item);
    return received === null
      ? []
      : { line: item.line, received, accepted, ...(note && accepted < received ? { note } : {}) };
  });

export const allArrived = (counts: Counts, items: readonly Item[]): Counts => ({
  ...counts,
  ...Object.fromEntries(items.map(({ line, quantity }) => [`received.${line}`, exact(quantity)])),
});

const same = (one: string | null, other: string): boolean => one?.toLowerCase() === other.toLowerCase();

/** Counts one more piece of the first line with this SKU, or order line, that is not complete. */
export const countScan = (
  counts: Counts,
  items: readonly Item[],
  scanned: string,
): { counts: Counts; line: number | null; outcome: ScanOutcome } => {
  const refuse = (message: string) => ({
    counts,
    line: null,
    outcome: { text: scanned, isDone: false, message },
  });
  const meant = items.filter(
    ({ sku, tradeLineItemId }) => same(sku, scanned) || same(tradeLineItemId, scanned),
  );
  if (meant.length === 0) return refuse(words.notHere);
  const received = (item: Item): number => countedOf(counts, item).received || 0;
  const item = meant.find((each) => received(each) < each.quantity);
  if (!item) {
    const declared = meant.reduce((sum, { quantity }) => sum + quantity, 0);
    return refuse(words.complete(formatNumber(declared)));
  }
  const now = Math.min(received(item) + 1, item.quantity);
  return {
    counts: { ...counts, [`received.${item.line}`]: exact(now) },
    line: item.line,
    outcome: {
      text: words.of(formatNumber(now), formatNumber(item.quantity)),
      isDone: true,
      message: item.productName,
    },
  };
};
