import type { Assignee } from '../../contract/admin-returns.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { instant } from '../instant.ts';
import { readTargets } from '../shops/target-days.ts';
import { dueAtOf } from './overdue.ts';
import { readAssignees } from './people.ts';
import { isProgram } from './visibility.ts';

interface Worked {
  status: string;
  status_since: number | null;
  updated_at: number;
  assignee_id: string | null;
}

export type ForStaff<Item> = Item & { assignee: Assignee | null; dueAt: string | null };

/** How this caller sees a return: staff also see who works on it and until when, programs never. */
export const viewFor = async <Row extends Worked, Item>(
  ctx: Context,
  caller: Caller,
  view: (row: Row) => Item,
): Promise<(row: Row) => Item | ForStaff<Item>> => {
  if (isProgram(caller)) return view;
  const [assignees, targets] = await Promise.all([
    readAssignees(ctx, caller.shop.id),
    readTargets(ctx, caller.shop.id),
  ]);
  return (row) => {
    const dueAt = dueAtOf(targets, row.status, row.status_since ?? row.updated_at);
    return {
      ...view(row),
      assignee: row.assignee_id === null ? null : (assignees.get(row.assignee_id) ?? null),
      dueAt: dueAt === null ? null : instant(dueAt),
    };
  };
};
