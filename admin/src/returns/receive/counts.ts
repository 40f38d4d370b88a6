import type { TradeReturn } from '../../../../contract/trade-return.ts';
import { formatNumber } from '../../format.ts';
import { texts } from '../../texts.ts';
import type { ScanOutcome } from '../../ui/scanning.tsx';
import { readNumber } from '../new/read-number.ts';

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

interface Figure {
  /** null: not typed. NaN: not a number, or not clear which. */
  value: number | null;
  error?: string;
}
const figureOf = (typed = ''): Figure => {
  if (typed.trim() === '') return { value: null };
  const reading = readNumber(typed);
  if (typeof reading === 'string') return { value: Number(reading) };
  const error = reading ? words.unclear(Number(reading[0]), Number(reading[1])) : words.noNumber;
  return { value: Number.NaN, error };
};

export interface Counted {
  received: number | null;
  accepted: number;
  note: string;
  error: { received?: string; accepted?: string };
}

const errorOf = ({ quantity }: Item, received: Figure, accepted: Figure): Counted['error'] => {
  if (received.error) return { received: received.error };
  if (accepted.error) return { accepted: accepted.error };
  const most = received.value ?? 0;
  if (most < 0 || most > quantity) return { received: words.atMost(formatNumber(quantity)) };
  if (accepted.value === null) return {};
  if (received.value === null) return { accepted: words.howMany };
  if (accepted.value < 0 || accepted.value > most) return { accepted: words.atMost(formatNumber(most)) };
  return {};
};

export const countedOf = (counts: Counts, item: Item): Counted => {
  const [received, accepted] = [
    figureOf(counts[`received.${item.line}`]),
    figureOf(counts[`accepted.${item.line}`]),
  ];
  return {
    received: received.value,
    accepted: Math.max(0, accepted.value ?? received.value ?? 0),
    note: counts[`note.${item.line}`]?.trim() ?? '',
    error: errorOf(item, received, accepted),
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
