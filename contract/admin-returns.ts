import { z } from 'zod';
import { Id, Instant } from './common.ts';
import { email, LENGTH, optionalText, text } from './fields.ts';

// What staff do with one return, beyond what programs do.

/** Given by people, who decide by what is on their screen; programs never send it. */
const seen = z.iso
  .datetime({ offset: true })
  .transform((value) => Date.parse(value))
  .optional()
  .meta({
    override: { type: 'string', format: 'date-time' },
    description:
      'The `updatedAt` that the person saw. If somebody changed the return in between, the answer is a 409 `CHANGED_MEANWHILE` and nothing changes.',
    examples: ['2026-11-15T09:30:00.000Z'],
  });
export const MoveQuery = z.strictObject({ seen });

const correctable = {
  customerName: text(LENGTH.name).optional(),
  customerEmail: email().optional(),
  customerPhone: optionalText(LENGTH.name).unwrap().optional(),
  seen,
};
const CORRECTION = 'What is absent stays as it is; `null` or `""` takes away a phone or serial number.';
export const CorrectOfflineRepair = z
  .strictObject({
    ...correctable,
    serialNumber: optionalText(LENGTH.reference).unwrap().optional(),
  })
  .meta({ id: 'CorrectOfflineRepair', description: CORRECTION });
export type CorrectOfflineRepair = z.infer<typeof CorrectOfflineRepair>;
export const CorrectTradeReturn = z
  .strictObject({ ...correctable, companyName: text(LENGTH.name).optional() })
  .meta({ id: 'CorrectTradeReturn', description: CORRECTION });
export type CorrectTradeReturn = z.infer<typeof CorrectTradeReturn>;

// --- related returns ---

const RelatedReturn = z.object({
  kind: z.enum(['OFFLINE_REPAIR', 'TRADE_RETURN']),
  id: Id,
  rmaNumber: z.string(),
  status: z.string(),
  /** What was handed in, or by which company. */
  title: z.string().meta({ description: 'The product of a repair, the company of a trade return.' }),
  customerName: z.string(),
  createdAt: Instant,
});
export type RelatedReturn = z.infer<typeof RelatedReturn>;

const related = z.object({ items: z.array(RelatedReturn), total: z.int().min(0) });
export const RelatedReturns = z
  .object({
    sameSerial: related.meta({ description: 'Earlier repairs of the same serial number.' }),
    sameCustomer: related.meta({
      description:
        'Earlier returns of either kind with the same e-mail address, whatever its case, or of the same company.',
    }),
  })
  .meta({ id: 'RelatedReturns', description: 'Newest first, at most five of each; `total` counts all.' });
export type RelatedReturns = z.infer<typeof RelatedReturns>;
