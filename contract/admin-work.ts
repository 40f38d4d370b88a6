import { z } from 'zod';
import { STAFF_SCHEMAS } from './admin-returns.ts';
import { type FieldError, Id } from './common.ts';
import { text } from './fields.ts';
import {
  FINAL_STATUSES,
  KIND_NAMES,
  perName,
  RETURN_KINDS,
  RETURN_TABLES,
  type ReturnStatus,
} from './kinds.ts';

// The schemas of a shop's target days and saved views.

// --- target days ---

/** The statuses in which a return can be overdue. */
const TARGET_STATUSES = RETURN_TABLES.flatMap((table): readonly ReturnStatus[] =>
  RETURN_KINDS[table].statuses.filter((status) => !FINAL_STATUSES.includes(status)),
);
const MOST_TARGET_DAYS = 365;

export const TargetDays = z
  .strictObject({
    targets: z
      .array(
        z.strictObject({
          status: z.enum(TARGET_STATUSES),
          days: z
            .int()
            .min(1)
            .max(MOST_TARGET_DAYS)
            .meta({ examples: [3] }),
        }),
      )
      .max(TARGET_STATUSES.length)
      .refine((targets) => new Set(targets.map(({ status }) => status)).size === targets.length, {
        error: 'must name each status once',
        params: { rule: 'unique' },
      })
      .meta({ description: 'A status that is not listed has no target: nothing is overdue in it.' }),
  })
  .meta({ id: 'TargetDays' });
export type TargetDays = z.infer<typeof TargetDays>;

// --- saved views ---

export const MOST_VIEWS = 50;

const FILTERS = perName((table) =>
  (STAFF_SCHEMAS[table].query as z.ZodObject).omit({ page: true, limit: true }),
);

/** The filters and the order, as in the address of the list. */
const search = z.record(z.string(), z.string()).meta({
  description: "The list's filters and order, by name, as in its address.",
  examples: [{ assignee: 'me' }] as never,
});

/** The records of Zod drop this name silently, so it is reported here. */
const DROPPED_KEY = '__proto__';
const givenSearch = z.preprocess((given, { addIssue }) => {
  if (given instanceof Object && Object.hasOwn(given, DROPPED_KEY))
    addIssue({
      code: 'custom',
      path: [DROPPED_KEY],
      message: 'is not a filter of this list',
      params: { rule: 'filter' },
    });
  return given;
}, search);

/** Reports errors in the filters of a list of this kind as errors of the field `search`. */
export const searchErrors = (kind: SavedView['kind'], given: Record<string, string>): FieldError[] =>
  (FILTERS[kind].safeParse(given).error?.issues ?? []).flatMap((issue) => {
    const isUnknown = issue.code === 'unrecognized_keys';
    const names = isUnknown ? issue.keys : [issue.path.map(String).join('.')];
    return names.map((name) => {
      const problem = isUnknown ? 'is not a filter of this list' : 'has a value that the list does not know';
      return { field: `search.${name}`, rule: 'filter', message: `search.${name} ${problem}` };
    });
  });

export const SavedView = z
  .object({
    id: Id,
    kind: z.enum(KIND_NAMES),
    name: z.string(),
    search,
    shared: z.boolean().meta({ description: 'Every user of the shop sees it; only Admins can change it.' }),
  })
  .meta({ id: 'SavedView' });
export type SavedView = z.infer<typeof SavedView>;
export const SavedViewList = z.object({ items: z.array(SavedView) }).meta({ id: 'SavedViewList' });

const VIEW_NAME = 80;
export const CreateSavedView = z
  .strictObject({
    kind: z.enum(KIND_NAMES),
    name: text(VIEW_NAME, { examples: ['Waiting for parts, Harbour Road'] }),
    search: givenSearch,
    shared: z.boolean().default(false),
  })
  .meta({ id: 'CreateSavedView' });
export type CreateSavedView = z.infer<typeof CreateSavedView>;

export const ChangeSavedView = z
  .strictObject({
    name: text(VIEW_NAME).nullable().default(null),
    search: givenSearch.nullable().default(null),
    shared: z.boolean().nullable().default(null),
  })
  .meta({ id: 'ChangeSavedView', description: 'Absent and `null` fields are unchanged.' });
export type ChangeSavedView = z.infer<typeof ChangeSavedView>;
