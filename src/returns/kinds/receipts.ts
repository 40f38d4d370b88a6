import type { FieldError } from '../../../contract/common.ts';
import { CREDIT_STATUSES } from '../../../contract/lifecycle.ts';
import type { CreateTradeReturn, ReceivedLine, TradeReturn } from '../../../contract/trade-return.ts';
import { parseJsonColumn } from '../../lib/json.ts';
import { fieldError, ServiceError } from '../../platform/errors.ts';
import type { ReturnRow } from '../store.ts';

// What was received of each line of a trade return, and the resulting amounts. Amounts are decimal strings and never rounded.

export type TradeReturnRow = ReturnRow<'trade_returns'>;
type Item = CreateTradeReturn['items'][number];

type Figures = Pick<TradeReturn['items'][number], 'received' | 'accepted'>;

const NOTHING_RECEIVED: Figures = { received: 0, accepted: 0 };
const receivedInFull = ({ quantity }: Item): Figures => ({ received: quantity, accepted: quantity });

const parseItems = ({ items }: TradeReturnRow): Item[] => parseJsonColumn('items', items);

export const hasCredit = ({ status }: Pick<TradeReturnRow, 'status'>): boolean =>
  CREDIT_STATUSES.includes(status);

const countsByLine = ({ receipts }: TradeReturnRow, items: Item[]): (Figures | null)[] => {
  const counted = receipts === null ? [] : parseJsonColumn('receipts', receipts);
  return items.map((_, i) => counted[i] ?? null);
};

export const viewItems = (row: TradeReturnRow): TradeReturn['items'] => {
  const items = parseItems(row);
  const figures = countsByLine(row, items);
  return items.map((item, i) => ({ line: i + 1, ...item, ...(figures[i] ?? NOTHING_RECEIVED) }));
};

/** Throws unless each line exists and occurs once, at most the declared quantity is received, and at most the received one accepted. */
const checkLines = (items: Item[], lines: ReceivedLine[]): void => {
  const named = new Set<number>();
  const errors = lines.flatMap(({ line, received, accepted }, i): FieldError[] => {
    const at = `lines.${i}`;
    const item = items[line - 1];
    if (!item) return [aboveMax(`${at}.line`, `${items.length}, the last line of the return`)];
    if (named.has(line)) return [fieldError(`${at}.line`, 'unique', `names line ${line} a second time`)];
    named.add(line);
    if (received > item.quantity)
      return [aboveMax(`${at}.received`, `${item.quantity}, the quantity of line ${line}`)];
    return accepted !== null && accepted > received
      ? [aboveMax(`${at}.accepted`, `${received}, what was received of line ${line}`)]
      : [];
  });
  refuseLine(errors);
};

const aboveMax = (field: string, most: string) => fieldError(field, 'max', `must be at most ${most}`);

const refuseLine = (errors: FieldError[]): void => {
  if (errors.length > 0) throw new ServiceError('VALIDATION_FAILED', { errors });
};

/** The new counts replace those of the same lines. Without lines, everything that has no counts yet is received in full. */
export const receiptOf = (before: TradeReturnRow, lines: ReceivedLine[] | null, complete: boolean | null) => {
  const items = parseItems(before);
  const figures = countsByLine(before, items);
  if (lines) checkLines(items, lines);
  const named = new Map(lines?.map((each) => [each.line, each]));
  const after = items.map((item, i): Figures | null => {
    const given = named.get(i + 1);
    if (given) return { received: given.received, accepted: given.accepted ?? given.received };
    return figures[i] ?? (lines ? null : receivedInFull(item));
  });
  const isComplete = complete ?? items.every(({ quantity }, i) => after[i]?.received === quantity);
  const isSame = (i: number) =>
    after[i]?.received === figures[i]?.received && after[i]?.accepted === figures[i]?.accepted;
  // The timeline shows the lines that changed, and those with a note.
  const timelineLines = after.flatMap((each, i) => {
    const note = named.get(i + 1)?.note;
    return each === null || (isSame(i) && !note) ? [] : { line: i + 1, ...each, ...(note ? { note } : {}) };
  });
  // Once the return is received, a missing line has counts, too, so that a correction to 0 changes nothing.
  const stored = after.map((each) => each ?? (isComplete ? NOTHING_RECEIVED : null));
  const isDifferent = after.some((_, i) => !isSame(i));
  return { receipts: JSON.stringify(stored), timelineLines, isDifferent, isComplete };
};

// --- amounts ---

/** Prices and quantities have at most four decimals, so a product has at most eight. */
const AMOUNT_DECIMALS = 4;

/** It is exact for every number that a request can contain: up to 10^11 the error of the product is below a quarter. */
const tenThousandths = (value: number): bigint => BigInt(Math.round(value * 10 ** AMOUNT_DECIMALS));

const digitsOf = (units: bigint): string => {
  const digits = units.toString().padStart(2 * AMOUNT_DECIMALS + 1, '0');
  const point = digits.length - 2 * AMOUNT_DECIMALS;
  return `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.?0+$/, '');
};

type PricedItem<Count extends string> = Record<'price' | Count, number>;

const sumOf = <Count extends string>(items: PricedItem<Count>[], count: Count): bigint =>
  items.reduce((sum, item) => sum + tenThousandths(item.price) * tenThousandths(item[count]), 0n);

export const amountOf = <Count extends string>(items: PricedItem<Count>[], count: Count): string =>
  digitsOf(sumOf(items, count));

/** Parses the digits that the caller wrote. A very small number has an exponent. */
const unitsOf = (amount: number): bigint => {
  const written = amount < 1e-6 ? amount.toFixed(2 * AMOUNT_DECIMALS) : String(amount);
  const [whole = '', fraction = ''] = written.split('.');
  return BigInt(whole + fraction.padEnd(2 * AMOUNT_DECIMALS, '0'));
};

/** Returns an amount that overrides the computed one, as a decimal string; null if both are equal. */
export const otherAmount = (
  items: TradeReturn['items'],
  wanted: number,
  note: string | null,
): string | null => {
  const units = unitsOf(wanted);
  if (units === sumOf(items, 'accepted')) return null;
  const errors: FieldError[] = [];
  if (units > sumOf(items, 'quantity'))
    errors.push(aboveMax('creditAmount', `${amountOf(items, 'quantity')}, the declared amount`));
  if (note === null)
    errors.push(
      fieldError('note', 'required', 'is required where creditAmount differs from the computed amount'),
    );
  refuseLine(errors);
  return digitsOf(units);
};
