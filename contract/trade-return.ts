import { z } from 'zod';
import { Id, listOf, pageQuery, rmaNumberFilter, stamps, updatedSince } from './common.ts';
import {
  AMOUNT_EXCEEDED,
  amount,
  email,
  isAmount,
  isSum,
  LENGTH,
  optionalText,
  optionalWeight,
  price,
  quantity,
  text,
  unitsField,
  verbatimText,
} from './fields.ts';
import { TRADE_RETURN_STATUSES, type TradeReturnAction } from './lifecycle.ts';

const MOST_ITEMS = 250;

export const TradeReturnStatus = z.enum(TRADE_RETURN_STATUSES).meta({ id: 'TradeReturnStatus' });

const TradeItem = z
  .strictObject({
    sku: text(LENGTH.reference, { examples: ['LAMP-OAK'] }),
    productName: text(LENGTH.name, { examples: ['Oak table lamp'] }),
    quantity: quantity(),
    price: price(),
    variantTitle: optionalText(LENGTH.name),
    weight: optionalWeight(),
    tradeLineItemId: optionalText(LENGTH.reference, {
      description: 'The line in the trade order.',
      examples: ['line-3'],
    }),
  })
  .refine(isAmount, { path: ['price'], ...AMOUNT_EXCEEDED })
  .meta({ id: 'TradeItem' });

const ShippingAddress = z
  .strictObject({
    street: text(LENGTH.name, { examples: ['12 Harbour Road'] }),
    suburb: text(LENGTH.name, { examples: ['Port Melbourne'] }),
    state: text(LENGTH.name, { examples: ['VIC'] }),
    postcode: text(LENGTH.reference, { examples: ['3207'] }),
  })
  .meta({ id: 'ShippingAddress', description: 'The address that the goods are returned from.' });

export const CreateTradeReturn = z
  .strictObject({
    tradeOrderNumber: text(LENGTH.reference, { examples: ['TO-5501'] }),
    customerEmail: email({ examples: ['buying@northwind.example'] }),
    customerName: text(LENGTH.name, { examples: ['Nora Wind'] }),
    companyName: text(LENGTH.name, { examples: ['Northwind Interiors'] }),
    companyId: text(LENGTH.reference, { examples: ['company-118'] }),
    reason: text(LENGTH.freeText, { examples: ['Damaged in transit'] }),
    items: z
      .array(TradeItem)
      .min(1)
      .max(MOST_ITEMS)
      .refine(isSum, { ...AMOUNT_EXCEEDED, error: `prices ${AMOUNT_EXCEEDED.error} together` }),
    shippingAddress: ShippingAddress,
    customerPhone: optionalText(LENGTH.name),
    orderDate: verbatimText(LENGTH.name, {
      description: 'Any text, echoed unchanged.',
      examples: ['2026-10-02'],
    }),
    customerNotes: optionalText(LENGTH.freeText),
    faultDescription: optionalText(LENGTH.freeText),
    additionalComment: optionalText(LENGTH.freeText),
    externalRef: optionalText(LENGTH.reference, {
      description: 'Your own identifier; echoed in responses and webhooks.',
    }),
    externalSource: optionalText(LENGTH.reference, {
      description: 'Your own label for the source; echoed in responses and webhooks.',
    }),
  })
  .meta({
    id: 'CreateTradeReturn',
    examples: [
      {
        tradeOrderNumber: 'TO-5501',
        customerEmail: 'buying@northwind.example',
        customerName: 'Nora Wind',
        companyName: 'Northwind Interiors',
        companyId: 'company-118',
        reason: 'Damaged in transit',
        items: [{ sku: 'LAMP-OAK', productName: 'Oak table lamp', quantity: 4, price: 120.5 }],
        shippingAddress: {
          street: '12 Harbour Road',
          suburb: 'Port Melbourne',
          state: 'VIC',
          postcode: '3207',
        },
      },
    ],
  });
export type CreateTradeReturn = z.infer<typeof CreateTradeReturn>;

// --- moves ---

const note = optionalText(LENGTH.freeText, { description: 'Stored in the timeline entry.' });

const TradeMove = z.strictObject({ note }).meta({ id: 'TradeMove' });

const ReceivedLine = z
  .strictObject({
    line: z
      .int()
      .min(1)
      .max(MOST_ITEMS)
      .meta({ description: 'The `line` of the item.', examples: [1] }),
    received: unitsField('How many have arrived in total so far, at most the `quantity` of the line.', [3]),
    accepted: unitsField('How many of them are credited; all that were received when absent.', [2])
      .nullable()
      .default(null),
    note,
  })
  .meta({ id: 'ReceivedLine' });
export type ReceivedLine = z.infer<typeof ReceivedLine>;

const ReceiveTradeReturn = z
  .strictObject({
    note,
    lines: z.array(ReceivedLine).min(1).max(MOST_ITEMS).nullable().default(null).meta({
      description:
        'Totals so far, not differences: repeating the request changes nothing. Omitted lines are unchanged. Without `lines`, every line that has no figures yet is received and accepted in full.',
    }),
    complete: z.boolean().nullable().default(null).meta({
      description:
        'Whether nothing more is expected: `true` moves the return to `TRADE_RECEIVED`. Only with `lines`; when absent, whether every line is fully received.',
    }),
  })
  .refine(({ lines, complete }) => lines !== null || complete === null, {
    path: ['lines'],
    error: 'is required with complete',
    params: { rule: 'required' },
  })
  .meta({
    id: 'ReceiveTradeReturn',
    examples: [
      { lines: [{ line: 1, received: 3, accepted: 2, note: 'One has a broken base' }], complete: true },
    ],
  });

const RequestTradeReturnCredit = z
  .strictObject({
    note,
    creditAmount: amount(
      'Replaces the computed amount, and then needs a `note`; from 0 to `declaredAmount`.',
      [200],
    )
      .nullable()
      .default(null),
  })
  .meta({ id: 'RequestTradeReturnCredit', examples: [{ note: 'Checked' }] });

/** The bodies of the moves, by the move's name. */
export const TradeReturnMoveBody = {
  approve: TradeMove,
  reject: TradeMove,
  receive: ReceiveTradeReturn,
  'request-credit': RequestTradeReturnCredit,
  resolve: TradeMove,
} as const satisfies Record<TradeReturnAction, z.ZodType>;

// --- responses ---

const quantityField = (description: string) => z.number().meta({ description });

/** An item in events about received goods. */
export const ReceivedItem = z
  .object({
    line: z.int().min(1).meta({ description: 'Its position among the items, from 1.' }),
    sku: z.string(),
    tradeLineItemId: z.string().nullable(),
    quantity: quantityField('How many were declared.'),
    received: quantityField('How many have arrived; 0 before the first arrival.'),
    accepted: quantityField('How many of them are credited.'),
  })
  .meta({ id: 'ReceivedItem' });
export type ReceivedItem = z.infer<typeof ReceivedItem>;

export const CreditAmount = z.number().meta({
  description:
    'The exact sum of price × accepted, or the amount that replaced it when the credit was requested.',
});

export const TradeReturn = z
  .object({
    id: Id,
    rmaNumber: z.string().meta({ examples: ['#RMA-000124'] }),
    status: TradeReturnStatus,
    externalRef: z.string().nullable(),
    externalSource: z.string().nullable(),
    tradeOrderNumber: z.string(),
    customerEmail: z.string(),
    customerName: z.string(),
    customerPhone: z.string().nullable(),
    companyName: z.string(),
    companyId: z.string(),
    reason: z.string(),
    items: z.array(
      z.object({
        ...ReceivedItem.shape,
        productName: z.string(),
        price: z.number(),
        variantTitle: z.string().nullable(),
        weight: z.number().nullable(),
      }),
    ),
    declaredAmount: z.number().meta({ description: 'The exact sum of price × quantity.' }),
    creditAmount: CreditAmount.nullable().meta({
      description:
        'The exact sum of price × accepted, or the amount that replaced it when the credit was requested; `null` before the return is received, and if it was rejected.',
    }),
    shippingAddress: z.object({
      street: z.string(),
      suburb: z.string(),
      state: z.string(),
      postcode: z.string(),
    }),
    orderDate: z.string().nullable(),
    customerNotes: z.string().nullable(),
    faultDescription: z.string().nullable(),
    additionalComment: z.string().nullable(),
    ...stamps,
  })
  .meta({
    id: 'TradeReturn',
    examples: [
      {
        id: '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e45',
        rmaNumber: '#RMA-000124',
        status: 'TRADE_SUBMITTED',
        waitingFor: null,
        statusSince: '2026-11-15T09:30:00.000Z',
        externalRef: 'ERP-701',
        externalSource: null,
        tradeOrderNumber: 'TO-5501',
        customerEmail: 'buying@northwind.example',
        customerName: 'Nora Wind',
        customerPhone: null,
        companyName: 'Northwind Interiors',
        companyId: 'company-118',
        reason: 'Damaged in transit',
        items: [
          {
            line: 1,
            sku: 'LAMP-OAK',
            productName: 'Oak table lamp',
            quantity: 4,
            price: 120.5,
            variantTitle: null,
            weight: null,
            tradeLineItemId: 'line-3',
            received: 0,
            accepted: 0,
          },
        ],
        declaredAmount: 482,
        creditAmount: null,
        shippingAddress: {
          street: '12 Harbour Road',
          suburb: 'Port Melbourne',
          state: 'VIC',
          postcode: '3207',
        },
        orderDate: '2026-10-02',
        customerNotes: null,
        faultDescription: null,
        additionalComment: null,
        createdAt: '2026-11-15T09:30:00.000Z',
        updatedAt: '2026-11-15T09:30:00.000Z',
        erasedAt: null,
      },
    ],
  });
export type TradeReturn = z.infer<typeof TradeReturn>;

export const TradeReturnList = listOf(TradeReturn).meta({
  id: 'TradeReturnList',
  description: 'Newest first.',
});

const reference = () => text(LENGTH.reference).optional();
export const TradeReturnQuery = z.strictObject({
  ...pageQuery,
  rmaNumber: rmaNumberFilter,
  status: TradeReturnStatus.optional(),
  externalRef: reference(),
  externalSource: reference(),
  tradeOrderNumber: reference(),
  companyId: reference(),
  customerEmail: text(LENGTH.name).optional(),
  updatedSince,
});
export type TradeReturnQuery = z.infer<typeof TradeReturnQuery>;
