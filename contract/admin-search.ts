import { z } from 'zod';
import { Id, Instant } from './common.ts';
import { LENGTH, text } from './fields.ts';
import { KIND_NAMES } from './kinds.ts';

// The schemas of the search over returns of both kinds, for staff and their scanners.

export const SearchQuery = z.strictObject({
  q: text(LENGTH.name, {
    description:
      'An exact number, serial, tracking number, reference or order; or free text, as in `q` of the lists.',
  }),
});

/** The fields that can match a search exactly. */
const EXACT_MATCHES = ['number', 'serial', 'tracking', 'reference', 'order'] as const;
export type ExactMatch = (typeof EXACT_MATCHES)[number];

export const FoundReturn = z
  .object({
    kind: z.enum(KIND_NAMES),
    id: Id,
    rmaNumber: z.string(),
    status: z.string(),
    customerName: z.string(),
    about: z.string().meta({ description: 'The product of a repair, or the company of a trade return.' }),
    orderNumber: z.string(),
    match: z
      .enum(EXACT_MATCHES)
      .nullable()
      .meta({ description: 'The field that matches exactly; `null` for a free-text match.' }),
    updatedAt: Instant,
  })
  .meta({ id: 'FoundReturn' });
export type FoundReturn = z.infer<typeof FoundReturn>;

export const SearchResult = z
  .object({ items: z.array(FoundReturn) })
  .meta({ id: 'SearchResult', description: 'At most ten: exact matches first, then the newest.' });
export type SearchResult = z.infer<typeof SearchResult>;
