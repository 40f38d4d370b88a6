import { sql } from 'kysely';
import type { Assignee } from '../../contract/admin-returns.ts';
import { isId } from '../../contract/common.ts';
import type { Context } from '../context.ts';
import type { Trx } from '../db/database.ts';
import { PRUNED_AT_ONCE } from '../db/prune.ts';
import type { Row } from '../db/schema.ts';
import { type Engine, statement } from '../db/statements.ts';
import { ServiceError } from '../errors.ts';
import { lockCounter } from '../shops/counters.ts';
import type { RmaTableName } from './visibility.ts';

// Who of the team works on a return.

type Person = Pick<Row<'users'>, 'id' | 'email' | 'name' | 'role'>;

const COLUMNS = ['id', 'email', 'name', 'role'] as const;

export const calledName = ({ name, email }: Pick<Person, 'name' | 'email'>): string =>
  name ?? email.split('@', 1)[0] ?? email;

const ofShop = ({ db }: Engine, shop: string) =>
  db.selectFrom('users').select(COLUMNS).where('shop_id', '=', shop);

const teamOfShop = statement((engine, { shop }: { shop: string }) => ofShop(engine, shop));
const personOfShop = statement((engine, { shop, id }: { shop: string; id: string }) =>
  ofShop(engine, shop).where('id', '=', id),
);

/** The shop's people by name. */
export const readTeam = async ({ reads, fill }: Context, shopId: string): Promise<Person[]> => {
  const { rows } = await reads.executeQuery(fill(teamOfShop, { shop: shopId }));
  return rows.sort((one, other) => calledName(one).localeCompare(calledName(other)));
};

/** By id, whom a return may be assigned to. A person who was removed is missing here. */
export const readAssignees = async (ctx: Context, shopId: string): Promise<Map<string, Assignee>> =>
  new Map(
    (await readTeam(ctx, shopId)).map((person) => [person.id, { id: person.id, name: calledName(person) }]),
  );

/** Whom a return is to be assigned to. */
export const findAssignee = async (
  { reads, fill }: Context,
  shopId: string,
  id: string,
): Promise<Assignee> => {
  const { rows } = isId(id)
    ? await reads.executeQuery(fill(personOfShop, { shop: shopId, id }))
    : { rows: [] };
  if (rows[0]) return { id, name: calledName(rows[0]) };
  const message = 'assigneeId must be a person of the shop';
  throw new ServiceError('VALIDATION_FAILED', { faults: [{ field: 'assigneeId', rule: 'person', message }] });
};

/** In the transaction that removes a person: what is assigned to them is to become unassigned. */
export const noteDeparture = async (
  trx: Trx,
  person: { id: string; shop_id: string },
  at: number,
): Promise<void> => {
  await trx
    .insertInto('departed_people')
    .values({ user_id: person.id, shop_id: person.shop_id, left_at: at })
    .execute();
};

/** By then every change that was assigning something to them has ended. */
const LONGEST_CHANGE_MS = 60_000;

/** Takes a bounded number of returns away from people who were removed; true when more is left. */
export const unassignDeparted = async (ctx: Context, nowMs: number): Promise<boolean> => {
  const { background: db } = ctx;
  const departed = await db
    .selectFrom('departed_people')
    .select(['user_id', 'shop_id', 'left_at'])
    .limit(10)
    .execute();
  let isMoreLeft = false;
  for (const { user_id, shop_id, left_at } of departed) {
    const freed =
      (await unassign(ctx, 'offline_repairs', shop_id, user_id)) ||
      (await unassign(ctx, 'trade_returns', shop_id, user_id));
    if (freed) isMoreLeft = true;
    else if (left_at < nowMs - LONGEST_CHANGE_MS)
      await db.deleteFrom('departed_people').where('user_id', '=', user_id).execute();
  }
  return isMoreLeft;
};

/** Under the shop's counter, as every change: otherwise a change that read the row before would write the assignee back. */
const unassign = (ctx: Context, table: RmaTableName, shopId: string, userId: string): Promise<boolean> =>
  ctx.background.transaction().execute(async (trx) => {
    await lockCounter(ctx, trx, shopId);
    const some = trx
      .selectFrom(table as 'offline_repairs')
      .select('id')
      .where('shop_id', '=', shopId)
      .where('assignee_id', '=', userId)
      .limit(sql.lit(PRUNED_AT_ONCE));
    const { numUpdatedRows } = await trx
      .updateTable(table as 'offline_repairs')
      .set({ assignee_id: null })
      .where(sql<boolean>`id ${ctx.among(some)}`)
      // Asked again: an operator's own transaction may just have assigned it to another person.
      .where('assignee_id', '=', userId)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  });
