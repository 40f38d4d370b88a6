// What a creation holds, as a schema that Fastify checks by itself.

const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength });
const optionalText = (maxLength: number) => ({ type: ['string', 'null'], maxLength });

export const REPAIR_BODY = {
  type: 'object',
  additionalProperties: false,
  required: ['orderNumber', 'customerEmail', 'customerName', 'faultyItem', 'faultDescription', 'storeId'],
  properties: {
    orderNumber: text(128),
    customerEmail: { ...text(255), pattern: '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$' },
    customerName: text(255),
    customerPhone: optionalText(255),
    faultyItem: {
      type: 'object',
      additionalProperties: false,
      required: ['sku', 'productName', 'quantity', 'price'],
      properties: {
        sku: text(128),
        productName: text(255),
        quantity: { type: 'number', exclusiveMinimum: 0 },
        price: { type: 'number', minimum: 0 },
        serialNumber: optionalText(128),
        variantTitle: optionalText(255),
        weight: { type: ['number', 'null'], minimum: 0 },
      },
    },
    faultDescription: text(5000),
    storeId: text(128),
    externalRef: optionalText(128),
    externalSource: optionalText(128),
    startStatus: { enum: ['OFFLINE_DIAGNOSTICS', 'COUNTER_SWAPPED', null] },
    replacementSku: optionalText(128),
    notes: optionalText(5000),
  },
} as const;

export interface RepairBody {
  orderNumber: string;
  customerEmail: string;
  customerName: string;
  customerPhone?: string | null;
  faultyItem: {
    sku: string;
    productName: string;
    quantity: number;
    price: number;
    serialNumber?: string | null;
    variantTitle?: string | null;
    weight?: number | null;
  };
  faultDescription: string;
  storeId: string;
  externalRef?: string | null;
  externalSource?: string | null;
  startStatus?: string | null;
  replacementSku?: string | null;
  notes?: string | null;
}
