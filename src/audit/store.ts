import type { AuditAction, AuditEntry, AuditSubjectType } from '../../contract/admin-people.ts';
import type { Actor, Page } from '../../contract/common.ts';
import type { Db, Trx } from '../db/database.ts';
import { AUDIT_COLUMNS, type Row } from '../db/schema.ts';
import { rowCount } from '../db/statements.ts';
import { newId } from '../lib/ids.ts';
import { parseJsonColumn } from '../lib/json.ts';
import { toIso } from '../lib/time.ts';
import { answerPage, WHOLE_ROWS } from '../paging/page-answer.ts';
import type { Context } from '../service/context.ts';

/** Who acts, and in the admin app from which address: the audit log keeps it. */
export type AuditActor = Actor & { address?: string };

export const OPERATOR: Actor = { type: 'SYSTEM', id: null, name: 'operator' };

/** Who failed to sign in, or asked for a link: only the address is known. */
export const UNKNOWN_PERSON: Actor = { type: 'SYSTEM', id: null, name: 'unknown person' };

export interface AuditRecord {
  shopId: string;
  at: number;
  actor: AuditActor;
  action: AuditAction;
  subject: { type: AuditSubjectType; id: string; name: string };
  data: Record<string, unknown>;
}

export const auditRow = ({ shopId, at, actor, action, subject, data }: AuditRecord, id = newId(at)) => ({
  id,
  shop_id: shopId,
  at,
  actor_type: actor.type,
  actor_id: actor.id,
  actor_name: actor.name,
  action,
  subject_type: subject.type,
  subject_id: subject.id,
  subject_name: subject.name,
  data: JSON.stringify(data),
  address: actor.address ?? null,
});

export const aboutShop = ({ id, name }: { id: string; name: string }) => ({
  shopId: id,
  subject: { type: 'SHOP', id, name } as const,
});

/** Written in the transaction of the change: none without the other. */
export const recordAudit = async (trx: Trx, record: AuditRecord, id?: string): Promise<void> => {
  await trx.insertInto('audit_log').values(auditRow(record, id)).execute();
};

/** For entries that count what follows them. */
export const updateAuditData = async (trx: Trx, id: string, data: Record<string, unknown>): Promise<void> => {
  await trx
    .updateTable('audit_log')
    .set({ data: JSON.stringify(data) })
    .where('id', '=', id)
    .execute();
};

const SHOPS_AT_ONCE = 200;

/** For what the operator does with all shops at once. */
export const recordForAllShops = async (
  db: Db,
  { at, action, data }: Pick<AuditRecord, 'at' | 'action' | 'data'>,
): Promise<void> => {
  const shops = await db.selectFrom('shops').select(['id', 'name']).execute();
  for (let first = 0; first < shops.length; first += SHOPS_AT_ONCE)
    await db
      .insertInto('audit_log')
      .values(
        shops
          .slice(first, first + SHOPS_AT_ONCE)
          .map((shop) => auditRow({ ...aboutShop(shop), at, actor: OPERATOR, action, data })),
      )
      .execute();
};

/** What of these fields is another value now; null where nothing is. */
export const changesBetween = <Thing extends object>(
  before: Thing,
  after: Thing,
  fields: readonly (keyof Thing & string)[],
): Record<string, { from: unknown; to: unknown }> | null => {
  const changed = fields.filter((field) => before[field] !== after[field]);
  return changed.length === 0
    ? null
    : Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]));
};

const viewEntry = (row: Row<'audit_log'>): AuditEntry => ({
  id: row.id,
  at: toIso(row.at),
  actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
  action: row.action,
  subject: { type: row.subject_type, id: row.subject_id, name: row.subject_name },
  data: parseJsonColumn('data', row.data),
  address: row.address,
});

export const listAudit = async (ctx: Context, shopId: string, page: Page) => {
  const own = ctx.db.selectFrom('audit_log').where('shop_id', '=', shopId);
  // An entry may be long: a list of rules that was replaced stands in it whole, before and after.
  const whole = page.limit <= WHOLE_ROWS;
  const [rows, { total }] = await Promise.all([
    own
      .select(whole ? AUDIT_COLUMNS : ['id'])
      .orderBy('id', 'desc')
      .limit(rowCount(page.limit))
      .offset(rowCount((page.page - 1) * page.limit))
      .$castTo<Row<'audit_log'>>()
      .execute(),
    own.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  const source = {
    name: 'audit_log',
    view: viewEntry,
    keyOf: ({ id }: Row<'audit_log'>) => id,
    readRows: (ids: string[]) => own.select(AUDIT_COLUMNS).where('id', 'in', ids).execute(),
  };
  const found = whole ? { rows, keys: [], total } : { rows: [], keys: rows.map(({ id }) => id), total };
  return answerPage(ctx, shopId, source, found, page);
};
