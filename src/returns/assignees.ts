import { sql } from 'kysely';
import type { Assignee } from '../../contract/admin-returns.ts';
import { RETURN_TABLES, type ReturnTable } from '../../contract/kinds.ts';
import { PRUNED_AT_ONCE } from '../db/prune.ts';
import type { Row } from '../db/schema.ts';
import { isoOrNull } from '../lib/time.ts';
import type { Core } from '../platform/core.ts';
import { invalidField } from '../platform/errors.ts';
import { lockCounter } from '../shops/counters.ts';
import type { Caller } from '../shops/plans.ts';
import { readTargets } from '../shops/settings.ts';
import { from, isApiClient, type ReturnRow } from './store.ts';
import { dueAtOf, viewWaitingForStaff } from './waiting.ts';

// The person a return is assigned to, and how staff see a return.

type TeamMember = Pick<Row<'users'>, 'id' | 'email' | 'name' | 'role'>;

export const displayName = ({ name, email }: Pick<TeamMember, 'name' | 'email'>): string =>
  name ?? email.split('@', 1)[0] ?? email;

export const readTeam = async ({ reads }: Core, shopId: string): Promise<TeamMember[]> => {
  const users = reads.selectFrom('users').select(['id', 'email', 'name', 'role']);
  const team = await users.where('shop_id', '=', shopId).execute();
  return team.sort((one, other) => displayName(one).localeCompare(displayName(other)));
};

/**
 * Returns the view of a return for this caller. Staff also see the assignee, the wait and the due
 * time. A removed user is not shown as assignee. API clients see none of this.
 */
export const viewFor = async <Return extends ReturnRow, Item>(
  ctx: Core,
  caller: Caller,
  view: (row: Return) => Item,
): Promise<(row: Return) => Item> => {
  if (isApiClient(caller)) return view;
  const { shop } = caller;
  const [team, targets] = await Promise.all([readTeam(ctx, shop.id), readTargets(ctx, shop.id)]);
  return (row) => {
    const person = team.find(({ id }) => id === row.assignee_id);
    return {
      ...view(row),
      assignee: person ? { id: person.id, name: displayName(person) } : null,
      waitingFor: viewWaitingForStaff(row),
      dueAt: isoOrNull(dueAtOf(targets, row)),
    };
  };
};

export const findAssignee = async (ctx: Core, shopId: string, id: string): Promise<Assignee> => {
  const person = (await readTeam(ctx, shopId)).find((each) => each.id === id);
  if (!person) throw invalidField('assigneeId', 'person', 'must be a person of the shop');
  return { id, name: displayName(person) };
};

/** This long after a removal, every change that could assign something to the removed user has ended. */
export const LONGEST_CHANGE_MS = 60_000;

/** Unassigns a bounded number of removed users' returns; true when more are left. */
export const unassignRemovedUsers = async (ctx: Core, nowMs: number): Promise<boolean> => {
  const { background: db } = ctx;
  const removed = await db
    .selectFrom('removed_users')
    .select(['user_id', 'shop_id', 'removed_at'])
    .limit(10)
    .execute();
  let isMoreLeft = false;
  for (const { user_id, shop_id, removed_at } of removed) {
    let hasUnassigned = false;
    for (const table of RETURN_TABLES) hasUnassigned ||= await unassign(ctx, table, shop_id, user_id);
    if (hasUnassigned) isMoreLeft = true;
    else if (removed_at < nowMs - LONGEST_CHANGE_MS)
      await db.deleteFrom('removed_users').where('user_id', '=', user_id).execute();
  }
  return isMoreLeft;
};

/** It locks the shop's counter, as every change does: otherwise a change that has read the row would write the assignee back. */
const unassign = (ctx: Core, table: ReturnTable, shopId: string, userId: string): Promise<boolean> =>
  ctx.background.transaction().execute(async (trx) => {
    await lockCounter(ctx, trx, shopId);
    const some = from(trx, table)
      .select('id')
      .where('shop_id', '=', shopId)
      .where('assignee_id', '=', userId);
    // `assignee_id` is compared again, since an operator's own transaction may just have assigned the return to somebody else.
    const { numAffectedRows = 0n } = await sql`
      update ${sql.table(table)} set assignee_id = null
      where id ${ctx.among(some.limit(sql.lit(PRUNED_AT_ONCE)))} and assignee_id = ${userId}`.execute(trx);
    return numAffectedRows > 0n;
  });
