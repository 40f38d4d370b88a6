import { z } from 'zod';
import { Id, Instant, RefusedReturn } from './common.ts';
import { email, LENGTH, text } from './fields.ts';
import { KIND_NAMES, perField, perMonthsField, RETURN_KINDS } from './kinds.ts';

// The schemas to find, export, erase and automatically forget a customer's personal data (rules: docs/contract.md).

export { ERASED_EMAIL, ERASED_TEXT } from './lifecycle.ts';

/** A phone number with fewer digits would match too many returns. */
export const FEWEST_DIGITS = 5;

export const phoneNumber = text(LENGTH.name, {
  description: 'Compared by its digits; a leading `+` or `00` is ignored, and no country is guessed.',
  examples: ['+44 20 7946 0018'],
}).refine((value) => value.replaceAll(/\D/g, '').length >= FEWEST_DIGITS, {
  error: `must have at least ${FEWEST_DIGITS} digits`,
  params: { rule: 'phone' },
});

const person = {
  email: email({ description: 'Not case-sensitive.', examples: ['ada@example.com'] })
    .nullish()
    .transform((value) => value ?? undefined)
    .optional(),
  phone: phoneNumber
    .nullish()
    .transform((value) => value ?? undefined)
    .optional(),
};
const EXACTLY_ONE = {
  path: ['email'],
  error: 'or phone is required, and only one of them',
  params: { rule: 'oneOf' },
};
const isExactlyOne = (given: { email?: string | undefined; phone?: string | undefined }): boolean =>
  (given.email === undefined) !== (given.phone === undefined);

export const FindCustomer = z
  .strictObject(person)
  .refine(isExactlyOne, EXACTLY_ONE)
  .meta({ id: 'FindCustomer', examples: [{ email: 'ada@example.com' }] });
export type FindCustomer = z.infer<typeof FindCustomer>;

const { reason: HoldReason, ...returnRef } = RefusedReturn.shape;

const CustomerReturn = z
  .object({
    kind: z.enum(KIND_NAMES),
    ...returnRef,
    status: z.string(),
    customerName: z.string(),
    customerEmail: z.string(),
    createdAt: Instant,
    hold: HoldReason.nullable().meta({
      description: 'Why it would not be erased now; `null` if it would be.',
    }),
  })
  .meta({ id: 'CustomerReturn' });
export type CustomerReturn = z.infer<typeof CustomerReturn>;

export const FoundCustomer = z
  .object({ total: z.int().min(0), returns: z.array(CustomerReturn) })
  .meta({ id: 'FoundCustomer', description: 'Newest first, at most 500; `total` counts all.' });
export type FoundCustomer = z.infer<typeof FoundCustomer>;

const ExportedReturn = z.object({
  kind: CustomerReturn.shape.kind,
  return: z.record(z.string(), z.unknown()).meta({ description: 'The whole return, as the API shows it.' }),
  timeline: z.array(z.record(z.string(), z.unknown())),
  events: z.array(z.record(z.string(), z.unknown())),
});
export const CustomerExport = z
  .object({ exportedAt: Instant, returns: z.array(ExportedReturn) })
  .meta({ id: 'CustomerExport' });
export type CustomerExport = z.infer<typeof CustomerExport>;

const optionalFlag = (description: string) =>
  z
    .boolean()
    .nullable()
    .default(false)
    .transform((value) => value ?? false)
    .meta({ description });

const dryRun = optionalFlag('Counts and names what would be erased, and changes nothing.');

export const EraseCustomer = z
  .strictObject({
    ...person,
    reason: text(LENGTH.freeText, {
      description: 'The reason for the audit log, without the name of the customer.',
      examples: ['Asked for it by letter'],
    }),
    includeOpen: optionalFlag('Also erases open returns; their waiting webhooks are dropped.'),
    dryRun,
  })
  .refine(isExactlyOne, EXACTLY_ONE)
  .meta({
    id: 'EraseCustomer',
    examples: [{ email: 'ada@example.com', reason: 'Asked for it by letter', dryRun: true }],
  });
export type EraseCustomer = z.infer<typeof EraseCustomer>;

/** The body of an erasure through the external API. */
export const CreateErasure = z
  .strictObject({ customerEmail: email({ examples: ['ada@example.com'] }), dryRun })
  // The example is a dry run, since readers send examples unchanged and erased data is gone.
  .meta({ id: 'CreateErasure', examples: [{ customerEmail: 'ada@example.com', dryRun: true }] });
export type CreateErasure = z.infer<typeof CreateErasure>;

const countField = (description: string) => z.int().min(0).meta({ description });

export const Erasure = z
  .object({
    dryRun: z.boolean(),
    matched: countField('Returns with data of the customer that are not erased yet.'),
    erased: countField('The number of returns that this request erased, or would erase.'),
    returns: z
      .array(z.object(returnRef))
      .meta({ description: 'The returns that it erased, or would erase.' }),
    refused: z
      .array(RefusedReturn)
      .meta({ description: 'The returns that are not erased, and why; at most 500.' }),
    remaining: countField('The number of returns for the next request: one request erases at most 500.'),
    views: countField(
      "Saved views that lost text, since it was the customer's email, phone or full name; 0 in a dry run.",
    ),
  })
  .meta({ id: 'Erasure' });
export type Erasure = z.infer<typeof Erasure>;

// --- forgetting after a time ---

const months = z
  .int()
  .min(1)
  .max(120)
  .nullable()
  .meta({
    description: 'Months after its end in which a return is erased; `null` if it is kept.',
    examples: [24],
  });

export const Forgetting = z.strictObject(perMonthsField(() => months)).meta({ id: 'Forgetting' });
export type Forgetting = z.infer<typeof Forgetting>;

export const ForgettingCount = z
  .object(perField((table) => countField(`${RETURN_KINDS[table].plural} that would be erased.`)))
  .meta({ id: 'ForgettingCount' });
export type ForgettingCount = z.infer<typeof ForgettingCount>;

// --- removed users ---

const FormerEmployee = z
  .object({
    id: Id,
    email: z.string(),
    removedAt: Instant,
    erasing: z
      .boolean()
      .meta({ description: 'Their name is being erased; it takes minutes in a large shop.' }),
  })
  .meta({ id: 'FormerEmployee' });
export type FormerEmployee = z.infer<typeof FormerEmployee>;
export const FormerEmployeeList = z.object({ items: z.array(FormerEmployee) }).meta({
  id: 'FormerEmployeeList',
  description: 'Removed users whose name is still in timelines or the audit log, newest first, at most 100.',
});

export const EraseFormerEmployee = z
  .strictObject({ reason: EraseCustomer.shape.reason })
  .meta({ id: 'EraseFormerEmployee' });
