/** The smallest body that creates a repair. */
export const repairBody = (more: Record<string, unknown> = {}) => ({
  orderNumber: 'SO-10042',
  customerEmail: 'ada@example.com',
  customerName: 'Ada Pereira',
  faultyItem: { sku: 'KETTLE-17', productName: 'Kettle 1.7 l', quantity: 1, price: 49.95 },
  faultDescription: 'Does not heat up any more',
  storeId: 'store-7',
  ...more,
});

/** The smallest body that creates a trade return. */
export const tradeBody = (more: Record<string, unknown> = {}) => ({
  tradeOrderNumber: 'TO-5501',
  customerEmail: 'buying@northwind.example',
  customerName: 'Nora Wind',
  companyName: 'Northwind Interiors',
  companyId: 'company-118',
  reason: 'Damaged in transit',
  items: [{ sku: 'LAMP-OAK', productName: 'Oak table lamp', quantity: 4, price: 120.5 }],
  shippingAddress: { street: '12 Harbour Road', suburb: 'Port Melbourne', state: 'VIC', postcode: '3207' },
  ...more,
});
