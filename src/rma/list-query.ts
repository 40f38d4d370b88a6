import type { Page } from '../../contract/common.ts';
import type { ReturnSort, SortOrder } from '../../contract/return-order.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Origin } from './totals.ts';
import type { RmaTableName } from './visibility.ts';

// A list as it was asked for.

/** What a list may be narrowed by, of either kind. All but `updatedSince` is for staff only. */
export interface RmaFilters extends Page {
  updatedSince?: number | undefined;
  /** Free text, every word of which must be found. */
  q?: string | undefined;
  /** Made by programs or by people. */
  origin?: Origin | undefined;
  open?: boolean | undefined;
  /** `me`, `none` or an id. */
  assignee?: string | undefined;
  overdue?: 'true' | undefined;
  createdFrom?: number | undefined;
  createdTo?: number | undefined;
  /** A part of the store's id, or of the company's id or name. */
  store?: string | undefined;
  company?: string | undefined;
  /** Newest first without. */
  sort?: ReturnSort | undefined;
  order?: SortOrder | undefined;
}

/** How a list is found, and where its total comes from. */
export interface Plan {
  /** `scans` where all rows of the shop may be read, `db` where the best plan depends on the values; otherwise an index leads to the page. */
  connection: 'scans' | 'db' | 'lists';
  /** Kept with every change, counted in the page's own statement up to `SHORT`, or counted where the page does not tell. */
  total: 'kept' | 'with page' | 'counted';
}

/** A list that was asked for, with the values of its statements. */
export interface Query {
  ctx: Context;
  table: RmaTableName;
  caller: Caller;
  filters: RmaFilters;
  offset: number;
  /** Columns that must have a value of their own. */
  named: string[];
  /** How many words are searched for. */
  words: number;
  /** The statuses that have target days, where only what is overdue is asked for. */
  dueStatuses: string[] | undefined;
  plan: Plan;
  values: Values;
}

/** Also the columns that must have a value, the words that must be found (`word0`, `word1` …), and since when what is overdue. */
export type Values = {
  shop: string;
  updatedSince: number | undefined;
  limit: number;
  offset: number;
  longest: number;
} & Record<string, unknown>;
