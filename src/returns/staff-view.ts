import type { Assignee } from '../../contract/admin-returns.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { instant } from '../instant.ts';
import { readTargets } from '../shops/target-days.ts';
import { dueAtOf } from './overdue.ts';
import { readAssignees } from './people.ts';
import { isApiClient } from './visibility.ts';

interface Worked {
  status: string;
  status_since: number;
  assignee_id: string | null;
}

type ForStaff<Item> = Item & { assignee: Assignee | null; dueAt: string | null };

/** How staff see a return: also who works on it, and until when. */
export const viewForStaff = async <Row extends Worked, Item>(
  ctx: Context,
  { shop }: Caller,
  view: (row: Row) => Item,
): Promise<(row: Row) => ForStaff<Item>> => {
  const [assignees, targets] = await Promise.all([readAssignees(ctx, shop.id), readTargets(ctx, shop.id)]);
  return (row) => {
    const dueAt = dueAtOf(targets, row.status, row.status_since);
    return {
      ...view(row),
      assignee: row.assignee_id === null ? null : (assignees.get(row.assignee_id) ?? null),
      dueAt: dueAt === null ? null : instant(dueAt),
    };
  };
};

/** How this caller sees a return. API clients are never shown what is for staff. */
export const viewFor = async <Row extends Worked, Item>(
  ctx: Context,
  caller: Caller,
  view: (row: Row) => Item,
): Promise<(row: Row) => Item> => (isApiClient(caller) ? view : viewForStaff(ctx, caller, view));
