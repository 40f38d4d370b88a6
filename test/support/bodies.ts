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
