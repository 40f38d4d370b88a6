import { z } from 'zod';
import { Id, listOf, pageQuery, rmaNumberFilter, stamps, updatedSince } from './common.ts';
import {
  AMOUNT_EXCEEDED,
  email,
  isAmount,
  LENGTH,
  optionalText,
  optionalWeight,
  price,
  quantity,
  text,
} from './fields.ts';
import { DISPOSITIONS, OFFLINE_REPAIR_STATUSES, START_STATUSES } from './lifecycle.ts';

export const OfflineRepairStatus = z.enum(OFFLINE_REPAIR_STATUSES).meta({ id: 'OfflineRepairStatus' });
export const OfflineDisposition = z.enum(DISPOSITIONS).meta({ id: 'OfflineDisposition' });
const StartStatus = z.enum(START_STATUSES).meta({ id: 'OfflineRepairStartStatus' });

const FaultyItem = z
  .strictObject({
    sku: text(LENGTH.reference, { examples: ['KETTLE-17'] }),
    productName: text(LENGTH.name, { examples: ['Kettle 1.7 l'] }),
    quantity: quantity(),
    price: price(),
    serialNumber: optionalText(LENGTH.reference, { examples: ['SN-448120'] }),
    variantTitle: optionalText(LENGTH.name, { examples: ['Brushed steel'] }),
    weight: optionalWeight(),
  })
  .refine(isAmount, { path: ['price'], ...AMOUNT_EXCEEDED })
  .meta({ id: 'FaultyItem' });

const tracking = {
  trackingNumber: text(LENGTH.reference, { examples: ['JD0146000034'] }),
  carrierName: text(LENGTH.name, { examples: ['DHL'] }),
};

export const CreateOfflineRepair = z
  .strictObject({
    orderNumber: text(LENGTH.reference, { examples: ['SO-10042'] }),
    customerEmail: email({ examples: ['ada@example.com'] }),
    customerName: text(LENGTH.name, { examples: ['Ada Pereira'] }),
    customerPhone: optionalText(LENGTH.name, { examples: ['+44 20 7946 0018'] }),
    faultyItem: FaultyItem,
    faultDescription: text(LENGTH.freeText, { examples: ['Does not heat up any more'] }),
    storeId: text(LENGTH.reference, {
      description: 'The store where the item was handed in.',
      examples: ['store-7'],
    }),
    externalRef: optionalText(LENGTH.reference, {
      description: 'Your own identifier; echoed in responses and webhooks.',
      examples: ['POS-88213'],
    }),
    externalSource: optionalText(LENGTH.reference, {
      description: 'Your own label for the source; echoed in responses and webhooks.',
      examples: ['till-4'],
    }),
    startStatus: StartStatus.nullable().default(null).meta({
      description: 'The first status of the repair; `OFFLINE_DIAGNOSTICS` when absent.',
    }),
    replacementSku: optionalText(LENGTH.reference, {
      description: 'The sku of the replacement that the customer received.',
    }),
    notes: optionalText(LENGTH.freeText),
    tracking: z.strictObject(tracking).nullable().default(null).meta({
      description: 'The parcel in which the item is shipped, if already known.',
    }),
  })
  .meta({
    id: 'CreateOfflineRepair',
    examples: [
      {
        orderNumber: 'SO-10042',
        customerEmail: 'ada@example.com',
        customerName: 'Ada Pereira',
        faultyItem: { sku: 'KETTLE-17', productName: 'Kettle 1.7 l', quantity: 1, price: 49.95 },
        faultDescription: 'Does not heat up any more',
        storeId: 'store-7',
        externalRef: 'POS-88213',
      },
    ],
  });
export type CreateOfflineRepair = z.infer<typeof CreateOfflineRepair>;

/** The bodies of the lifecycle actions, by the action's name. */
export const OfflineRepairActionBody = {
  tracking: z.strictObject(tracking).meta({ id: 'Tracking' }),
  'begin-diagnostics': z
    .strictObject({ notes: optionalText(LENGTH.freeText, { description: 'Stored in the timeline entry.' }) })
    .meta({ id: 'BeginDiagnostics' }),
  'begin-repair': z
    .strictObject({
      repairNotes: optionalText(LENGTH.freeText, { examples: ['Heating element replaced under warranty'] }),
      assignedToId: optionalText(LENGTH.reference, {
        description: 'Your own identifier for the technician.',
        examples: ['tech-12'],
      }),
    })
    .meta({ id: 'BeginRepair' }),
  resolve: z
    .strictObject({
      offlineDisposition: OfflineDisposition,
      notes: optionalText(LENGTH.freeText, { description: 'Stored in the timeline entry.' }),
    })
    .meta({ id: 'Resolve' }),
  close: z.strictObject({}).meta({ id: 'Close' }),
};

export const OfflineRepair = z
  .object({
    id: Id,
    rmaNumber: z.string().meta({ examples: ['#RMA-000123'] }),
    status: OfflineRepairStatus,
    externalRef: z.string().nullable(),
    externalSource: z.string().nullable(),
    orderNumber: z.string(),
    customerEmail: z.string(),
    customerName: z.string(),
    faultDescription: z.string(),
    offlineDisposition: OfflineDisposition.nullable().meta({
      description: 'What happens to the item; `null` until `resolve` sets it.',
    }),
    isDangerous: z
      .boolean()
      .meta({ description: "Whether the item falls under the shop's dangerous-goods rules." }),
    trackingNumber: z.string().nullable(),
    storeId: z.string(),
    customerPhone: z.string().nullable(),
    faultyItem: z.object({
      sku: z.string(),
      productName: z.string(),
      quantity: z.number(),
      price: z.number(),
      serialNumber: z.string().nullable(),
      variantTitle: z.string().nullable(),
      weight: z.number().nullable(),
    }),
    replacementSku: z.string().nullable(),
    notes: z.string().nullable(),
    carrierName: z.string().nullable(),
    assignedToId: z.string().nullable(),
    repairNotes: z.string().nullable(),
    ...stamps,
  })
  .meta({
    id: 'OfflineRepair',
    examples: [
      {
        id: '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e44',
        rmaNumber: '#RMA-000123',
        status: 'OFFLINE_DIAGNOSTICS',
        externalRef: 'POS-88213',
        externalSource: null,
        orderNumber: 'SO-10042',
        customerEmail: 'ada@example.com',
        customerName: 'Ada Pereira',
        faultDescription: 'Does not heat up any more',
        offlineDisposition: null,
        isDangerous: false,
        trackingNumber: null,
        storeId: 'store-7',
        customerPhone: null,
        faultyItem: {
          sku: 'KETTLE-17',
          productName: 'Kettle 1.7 l',
          quantity: 1,
          price: 49.95,
          serialNumber: null,
          variantTitle: null,
          weight: null,
        },
        replacementSku: null,
        notes: null,
        carrierName: null,
        assignedToId: null,
        repairNotes: null,
        waitingFor: null,
        statusSince: '2026-11-15T09:30:00.000Z',
        createdAt: '2026-11-15T09:30:00.000Z',
        updatedAt: '2026-11-15T09:30:00.000Z',
        erasedAt: null,
      },
    ],
  });
export type OfflineRepair = z.infer<typeof OfflineRepair>;

export const OfflineRepairList = listOf(OfflineRepair).meta({
  id: 'OfflineRepairList',
  description: 'Newest first.',
});

const reference = () => text(LENGTH.reference).optional();
export const OfflineRepairQuery = z.strictObject({
  ...pageQuery,
  rmaNumber: rmaNumberFilter,
  status: OfflineRepairStatus.optional(),
  externalRef: reference(),
  externalSource: reference(),
  orderNumber: reference(),
  storeId: reference(),
  serialNumber: reference().meta({ description: "The faulty item's exact serial number." }),
  updatedSince,
});
export type OfflineRepairQuery = z.infer<typeof OfflineRepairQuery>;
