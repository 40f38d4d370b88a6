export const repairBody = (more: Record<string, unknown> = {}) => ({
  orderNumber: 'SO-10042',
  customerEmail: 'ada@example.com',
  customerName: 'Ada Pereira',
  faultyItem: { sku: 'KETTLE-17', productName: 'Kettle 1.7 l', quantity: 1, price: 49.95 },
  faultDescription: 'Does not heat up any more',
  storeId: 'store-7',
  ...more,
});

/** The smallest item of a trade return, and what is null in the response to it. */
export const TRADE_ITEM = { sku: 'LAMP-OAK', productName: 'Oak table lamp', quantity: 4, price: 120.5 };
export const EMPTY_ITEM = { variantTitle: null, weight: null, tradeLineItemId: null };

export const tradeBody = (more: Record<string, unknown> = {}) => ({
  tradeOrderNumber: 'TO-5501',
  customerEmail: 'buying@northwind.example',
  customerName: 'Nora Wind',
  companyName: 'Northwind Interiors',
  companyId: 'company-118',
  reason: 'Damaged in transit',
  items: [TRADE_ITEM],
  shippingAddress: { street: '12 Harbour Road', suburb: 'Port Melbourne', state: 'VIC', postcode: '3207' },
  ...more,
});

export const wholeTradeBody = () =>
  tradeBody({
    customerPhone: '+61 3 9646 0000',
    items: [
      {
        ...TRADE_ITEM,
        quantity: 2.5,
        price: 49.9501,
        variantTitle: 'Brushed steel',
        weight: 1.2345,
        tradeLineItemId: 'line-3',
      },
      { sku: 'B', productName: 'Second', quantity: 0.0001, price: 0, ...EMPTY_ITEM },
    ],
    orderDate: ' 2 Oct 2026 ',
    customerNotes: 'Two of four broken',
    faultDescription: 'Cracked base',
    additionalComment: 'Courier was told',
    externalRef: 'ERP-7',
    externalSource: 'erp',
  });
