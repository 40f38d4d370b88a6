import type { TargetDays } from '../../contract/admin-work.ts';
import type { OfflineRepairAction, TradeReturnAction } from '../../contract/lifecycle.ts';

// What the demo shop is filled with. Everything takes turns, so that every stage is there. Some of it is untidy, as data of
// real shops is: long names, other scripts, emoji, many items.

const PEOPLE = [
  ['Ada Pereira', 'ada.pereira'],
  ['Bo Lindqvist', 'bo.lindqvist'],
  ['María de los Ángeles Fernández de la Cuesta y Villanueva-Echeverría', 'maria.fernandez.de.la.cuesta'],
  ['Dana Kowalski', 'dana.kowalski'],
  ['נועה אברמוביץ׳־לוי', 'noa.levi'],
  ['Farid Haddad', 'farid.haddad'],
  ['Grace Muller 🛠️', 'grace.muller'],
] as const;
const COMPANIES = [
  'Northwind Interiors',
  'Gesellschaft für Werkzeug- und Maschinenbau Südwest-Niedersachsen mbH & Co. KG',
  'Harbour Hotels',
  'شركة الخليج لتجارة المعدات',
  'Fjord Outfitters',
];
const ITEMS = [
  { sku: 'KETTLE-17', productName: 'Kettle 1.7 l', price: 49.95, fault: 'Does not heat up any more' },
  {
    sku: 'BATT-DRILL-18V',
    productName: 'Drill battery 18 V',
    price: 89,
    fault: 'Gets hot and swells while charging',
  },
  { sku: 'LAMP-OAK', productName: 'Oak table lamp', price: 120.5, fault: 'Flickers, then goes out' },
  { sku: 'SPEAKER-MINI', productName: 'Mini speaker', price: 64.9, fault: 'No sound on the left side' },
  {
    sku: 'DHP484Z-18V-LXT-BODY-ONLY-EU-PLUG-2026-Q3-REFURBISHED',
    productName: 'Makita DHP484Z 18V LXT Li-ion Brushless Combi Drill Body Only',
    price: 239.9,
    fault:
      'The chuck slips under load. The customer says it began after a week, that it is worse when the battery is full, ' +
      'and that the first repair did not help: it held for two days.\nPlease ring before it is sent back 📞',
  },
  { sku: 'BLENDER-PRO', productName: 'Blender Pro', price: 179, fault: 'The jug leaks at its base' },
];

export const pick = <Value>(values: readonly Value[], i: number): Value => values[i % values.length] as Value;

const customer = (i: number) => {
  const [customerName, mailbox] = pick(PEOPLE, i);
  return { customerName, customerEmail: `${mailbox}@example.com` };
};

/** How far each repair has come. */
export const REPAIR_JOURNEYS: OfflineRepairAction[][] = [
  [],
  ['begin-diagnostics'],
  ['tracking', 'begin-repair'],
  ['begin-repair', 'resolve'],
  ['tracking', 'begin-repair', 'resolve', 'close'],
];
export const REPAIR_STEPS: Record<OfflineRepairAction, (i: number) => object> = {
  tracking: (i) => ({ trackingNumber: `JD01460000${i}`, carrierName: 'DHL' }),
  'begin-diagnostics': () => ({ notes: 'On the bench' }),
  'begin-repair': (i) => ({ assignedToId: `tech-${(i % 3) + 1}`, repairNotes: 'Part ordered' }),
  resolve: (i) => ({ offlineDisposition: i % 2 ? 'RESTOCK_MASTER' : 'WRITE_OFF' }),
  close: () => ({}),
};

export const repair = (i: number) => {
  const { fault, ...item } = pick(ITEMS, i);
  return {
    ...customer(i),
    orderNumber: `SO-${10_000 + i * 7}`,
    faultyItem: { ...item, quantity: 1, serialNumber: `SN-${448_000 + i * 13}` },
    faultDescription: fault,
    storeId: `store-${(i % 4) + 1}`,
    externalRef: `POS-${88_000 + i}`,
    externalSource: `till-${(i % 4) + 1}`,
    startStatus: i % 6 === 0 ? 'COUNTER_SWAPPED' : 'OFFLINE_DIAGNOSTICS',
  };
};

/** How far each trade return has come. */
export const TRADE_JOURNEYS: TradeReturnAction[][] = [
  [],
  ['approve'],
  ['reject'],
  ['approve', 'receive'],
  ['approve', 'receive', 'request-credit'],
  ['approve', 'receive', 'request-credit', 'resolve'],
];

const MANY_ITEMS = 14;
const itemsOf = (i: number) =>
  Array.from({ length: i % 5 === 4 ? MANY_ITEMS : 2 }, (_, line) => pick(ITEMS, i + 2 * line));

export const tradeReturn = (i: number) => ({
  ...customer(i),
  tradeOrderNumber: `TO-${5_500 + i}`,
  companyName: pick(COMPANIES, i),
  companyId: `company-${118 + (i % COMPANIES.length)}`,
  reason: pick(['Damaged in transit', 'Wrong colour delivered', 'Ordered too many'], i),
  items: itemsOf(i).map(({ fault: _, ...item }, line) => ({
    ...item,
    quantity: 2 + ((i + line) % 5),
    tradeLineItemId: `line-${line + 1}`,
  })),
  shippingAddress: { street: '12 Harbour Road', suburb: 'Port Melbourne', state: 'VIC', postcode: '3207' },
  externalRef: `ERP-${700 + i}`,
});

/** How long a return may stay in each status. */
export const TARGET_DAYS: TargetDays['targets'] = [
  { status: 'OFFLINE_DIAGNOSTICS', days: 3 },
  { status: 'OFFLINE_REPAIR', days: 10 },
  { status: 'TRADE_SUBMITTED', days: 2 },
  { status: 'TRADE_RECEIVED', days: 7 },
];
