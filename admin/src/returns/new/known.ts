import type { AdminOfflineRepair, AdminTradeReturn } from '../../../../contract/admin-returns.ts';
import { texts } from '../../texts.ts';
import { isNumber } from '../return-number.ts';

// What earlier returns tell about what was typed or scanned: whose it is, and which item.

const words = texts.intake;

/** Something known that what was typed may mean. */
export interface Known<Item> {
  key: string;
  title: string;
  detail: string;
  /** What was typed is all of its serial number, order, phone or email, and not a part. */
  isExact: boolean;
  fills: 'customer' | 'item';
  item: Item;
  /** The customer's earlier returns, the newest first. */
  earlier: Item[];
}

const digitsOf = (text: string): string => text.replace(/\D/g, '');
const FEWEST_DIGITS = 6;

/** A serial number may be all digits too: a phone number has a sign, a space or a nought in front. */
export const looksLike = (typed: string): 'email' | 'phone' | 'other' => {
  if (typed.includes('@')) return 'email';
  const isPhone =
    /^[+\d(][\d\s()./-]*$/.test(typed) &&
    digitsOf(typed).length >= FEWEST_DIGITS &&
    /^[+0(]|[\s/]/.test(typed);
  return isPhone ? 'phone' : 'other';
};

/** What two numbers of one kind have in common: "SO-10042" and "SO-9" their letters, 10042 and 20017 how long they are. */
const shapeOf = (text: string): string => {
  const start = text.trim().toLowerCase().replace(/\d.*$/s, '');
  return start === '' ? String(text.trim().length) : start;
};

/** Whether it looks as the order numbers of recent repairs do, and their serial numbers do not. */
export const looksLikeOrder = (typed: string, recent: readonly AdminOfflineRepair[]): boolean => {
  const shape = shapeOf(typed);
  return (
    recent.some(({ orderNumber }) => shapeOf(orderNumber) === shape) &&
    !recent.some(({ faultyItem: { serialNumber } }) => serialNumber && shapeOf(serialNumber) === shape)
  );
};

const isSame = (value: string | null, typed: string): boolean =>
  value?.trim().toLowerCase() === typed.toLowerCase();
const isPart = (value: string | null, typed: string): boolean =>
  value?.toLowerCase().includes(typed.toLowerCase()) ?? false;
const withoutSign = (rmaNumber: string): string => rmaNumber.replace(/^#/, '');

/** +44 20 7946 0018 and 020 7946 0018 are one number: they end alike. */
const SAME_END = 9;
const isSamePhone = (value: string | null, typed: string): boolean => {
  const [one, other] = [digitsOf(value ?? ''), digitsOf(typed)];
  return other.length >= FEWEST_DIGITS && one !== '' && one.slice(-SAME_END) === other.slice(-SAME_END);
};

/** The first of each, by what makes them one. */
const firstOfEach = <Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] =>
  items.filter((item, index) => items.findIndex((other) => keyOf(other) === keyOf(item)) === index);

/** Between the parts of a detail. */
export const SEPARATOR = ' · ';

const joined = (...parts: (string | null)[]): string => parts.filter(Boolean).join(SEPARATOR);

const emailOf = (item: { customerEmail: string }): string => item.customerEmail.toLowerCase();
const itemKey = ({ faultyItem: { serialNumber, sku }, orderNumber }: AdminOfflineRepair): string =>
  `${serialNumber ?? orderNumber} ${sku}`;

/** What a customer handed in before, each item once. */
export const itemsOf = (repairs: readonly AdminOfflineRepair[]): AdminOfflineRepair[] =>
  firstOfEach(repairs, itemKey);

export const knownRepairs = (
  found: readonly AdminOfflineRepair[],
  typed: string,
): Known<AdminOfflineRepair>[] => {
  const repairs = found.filter(({ erasedAt }) => erasedAt === null);
  const numbersOf = ({ faultyItem, orderNumber, rmaNumber }: AdminOfflineRepair) => [
    faultyItem.serialNumber,
    orderNumber,
    withoutSign(rmaNumber),
  ];
  const number = withoutSign(typed);
  const isItem = (repair: AdminOfflineRepair) =>
    isNumber(repair.rmaNumber, typed) || numbersOf(repair).some((value) => isPart(value, number));
  const items = firstOfEach(repairs.filter(isItem), (repair) => `${itemKey(repair)} ${emailOf(repair)}`);
  const customers = firstOfEach(
    repairs.filter((repair) => !isItem(repair)),
    emailOf,
  );
  return [
    ...items.map((item): Known<AdminOfflineRepair> => {
      const { serialNumber, productName } = item.faultyItem;
      return {
        key: item.id,
        title: productName,
        detail: joined(
          serialNumber && words.serial(serialNumber),
          words.order(item.orderNumber),
          item.customerName,
        ),
        isExact: isNumber(item.rmaNumber, typed) || numbersOf(item).some((value) => isSame(value, number)),
        fills: 'item',
        item,
        earlier: [],
      };
    }),
    ...customers.map((item): Known<AdminOfflineRepair> => {
      const earlier = repairs.filter((repair) => emailOf(repair) === emailOf(item));
      return {
        key: item.id,
        title: item.customerName,
        detail: joined(item.customerEmail, item.customerPhone, words.earlier(earlier.length)),
        isExact:
          isSame(item.customerEmail, typed) ||
          isSame(item.customerName, typed) ||
          isSamePhone(item.customerPhone, typed),
        fills: 'customer',
        item,
        earlier,
      };
    }),
  ];
};

export const knownCompanies = (
  found: readonly AdminTradeReturn[],
  typed: string,
): Known<AdminTradeReturn>[] => {
  const returns = found.filter(({ erasedAt }) => erasedAt === null);
  const number = withoutSign(typed);
  const numbersOf = (each: AdminTradeReturn) => [each.tradeOrderNumber, withoutSign(each.rmaNumber)];
  const isOrder = (each: AdminTradeReturn) =>
    isNumber(each.rmaNumber, typed) || numbersOf(each).some((value) => isPart(value, number));
  const companyOf = ({ companyId }: AdminTradeReturn) => companyId;
  const ofCompany = (item: AdminTradeReturn, fills: 'customer' | 'item'): Known<AdminTradeReturn> => {
    const earlier = returns.filter((each) => companyOf(each) === companyOf(item));
    return {
      key: item.id,
      title: item.companyName,
      detail: joined(
        fills === 'item' ? words.order(item.tradeOrderNumber) : item.companyId,
        item.customerName,
        fills === 'item' ? null : words.earlier(earlier.length),
      ),
      isExact:
        [...numbersOf(item), item.companyId, item.companyName, item.customerEmail].some((value) =>
          isSame(value, number),
        ) ||
        isNumber(item.rmaNumber, typed) ||
        isSamePhone(item.customerPhone, typed),
      fills,
      item,
      earlier,
    };
  };
  return [
    ...firstOfEach(returns.filter(isOrder), ({ tradeOrderNumber }) => tradeOrderNumber).map((each) =>
      ofCompany(each, 'item'),
    ),
    ...firstOfEach(
      returns.filter((each) => !isOrder(each)),
      companyOf,
    ).map((each) => ofCompany(each, 'customer')),
  ];
};
