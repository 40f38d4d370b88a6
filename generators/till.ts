// What the tills share: where the service is, what is sent, and what is printed at the end.

const { HANDBACK_URL, HANDBACK_API_KEY } = process.env;
if (!HANDBACK_URL || !HANDBACK_API_KEY) throw new Error('Set HANDBACK_URL and HANDBACK_API_KEY.');

export const baseUrl = `${HANDBACK_URL}/api/v1/external/v1`;
export const apiKey = HANDBACK_API_KEY;

/** No optional field is there: a generator that requires one fails here. */
export const NEW_REPAIR = {
  orderNumber: 'SO-10042',
  customerEmail: 'ada@example.com',
  customerName: 'Ada Pereira',
  faultyItem: { sku: 'KETTLE-17', productName: 'Kettle 1.7 l', quantity: 1, price: 49.95 },
  faultDescription: 'Does not heat up any more',
  storeId: 'store-7',
};

export const NEW_TRADE_RETURN = {
  tradeOrderNumber: 'TO-5501',
  customerEmail: 'buying@northwind.example',
  customerName: 'Nora Wind',
  companyName: 'Northwind Interiors',
  companyId: 'company-118',
  reason: 'Damaged in transit',
  items: [{ sku: 'LAMP-OAK', productName: 'Oak table lamp', quantity: 4, price: 120.5 }],
  shippingAddress: { street: '12 Harbour Road', suburb: 'Port Melbourne', state: 'VIC', postcode: '3207' },
};

export interface Report {
  created: string;
  listed: boolean;
  status: string;
  timeline: string[];
  tradeReturn: string;
  /** What the data of each event says, read by the type that its name gives it. */
  events: string[];
  isMissing: boolean;
}

export const report = (seen: Report): void => {
  process.stdout.write(`${JSON.stringify(seen)}\n`);
};
